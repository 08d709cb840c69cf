-- Comments. Article and author belong to other schemas.
create table comments.comments (
  id bigint generated always as identity,
  article_id bigint not null,
  author_id bigint not null,
  body text not null,
  created_at timestamptz not null,
  constraint comments_pkey primary key (id)
);

-- One article's comments, newest first.
create index comments_newest_idx on comments.comments (article_id, created_at desc, id desc);
-- For the key on the author.
create index comments_author_idx on comments.comments (author_id);

-- How far the list of deleted articles has been worked off, one row.
create table comments.deletions_cursor (
  only_row boolean not null default true,
  transaction_id xid8 not null default '0',
  article_id bigint not null default 0,
  constraint deletions_cursor_pkey primary key (only_row),
  constraint deletions_cursor_one_row check (only_row)
);

insert into comments.deletions_cursor default values;

-- Articles whose comments were removed once and are removed again after the grace period: a comment may have been under way.
create table comments.purges (
  article_id bigint not null,
  due_at timestamptz not null,
  constraint purges_pkey primary key (article_id)
);

create index purges_due_idx on comments.purges (due_at);
