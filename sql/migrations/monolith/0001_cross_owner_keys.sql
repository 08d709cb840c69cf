-- What only one database can promise. The split runs with and without these keys.

-- A database that the split has used may still hold comments of articles just deleted: its clean-up comes later than the
-- deletion, and nobody can see them.
delete from comments.comments c
where not exists (
  select
  from articles.articles a
  where a.id = c.article_id
);

alter table profiles.follows
  add constraint follows_follower_fkey foreign key (follower_id) references users.accounts (id) on delete cascade,
  add constraint follows_followee_fkey foreign key (followee_id) references users.accounts (id) on delete cascade;

alter table articles.articles
  add constraint articles_author_fkey foreign key (author_id) references users.accounts (id) on delete cascade;

alter table articles.favorites
  add constraint favorites_account_fkey foreign key (account_id) references users.accounts (id) on delete cascade;

alter table comments.comments
  add constraint comments_article_fkey foreign key (article_id) references articles.articles (id) on delete cascade,
  add constraint comments_author_fkey foreign key (author_id) references users.accounts (id) on delete cascade;
