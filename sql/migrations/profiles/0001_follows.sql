-- Who follows whom. Both are accounts of the users schema; what only one database can promise is in migrations/monolith.
create table profiles.follows (
  follower_id bigint not null,
  followee_id bigint not null,
  constraint follows_pkey primary key (follower_id, followee_id),
  constraint follows_not_oneself check (follower_id <> followee_id)
);

-- For the key on the followee, and for counting followers by hand.
create index follows_followee_idx on profiles.follows (followee_id);
