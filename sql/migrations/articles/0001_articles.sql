-- Articles, what hangs on them, and what is counted about them.

-- slug_base and slug_number make the slug: number 1 is the base itself, n > 1 is <base>-<n> (contract 3.1).
-- tag_list is kept sorted by code point, favorites_count is kept with every favorite, so that one row answers a read.
create table articles.articles (
  id bigint generated always as identity,
  author_id bigint not null,
  slug text collate "C" not null,
  slug_base text collate "C" not null,
  slug_number bigint not null,
  title text not null,
  description text not null,
  body text not null,
  tag_list text[] not null,
  favorites_count bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint articles_pkey primary key (id),
  constraint articles_slug_key unique (slug),
  constraint articles_slug_number_key unique (slug_base, slug_number),
  constraint articles_favorites_count_check check (favorites_count >= 0)
);

-- The list, newest first.
create index articles_newest_idx on articles.articles (created_at desc, id desc);
-- One author's articles, newest first: the author filter, the feed.
create index articles_author_idx on articles.articles (author_id, created_at desc, id desc);

-- An article's creation time and author never change, so they stand beside each tag and each favorite, where one index then
-- answers a filter in list order without reading the articles.
create table articles.article_tags (
  article_id bigint not null,
  tag text collate "C" not null,
  author_id bigint not null,
  created_at timestamptz not null,
  constraint article_tags_pkey primary key (article_id, tag),
  constraint article_tags_article_fkey foreign key (article_id) references articles.articles (id) on delete cascade
);

create index article_tags_newest_idx on articles.article_tags (tag, created_at desc, article_id desc) include (author_id);

create table articles.favorites (
  account_id bigint not null,
  article_id bigint not null,
  author_id bigint not null,
  created_at timestamptz not null,
  constraint favorites_pkey primary key (account_id, article_id),
  constraint favorites_article_fkey foreign key (article_id) references articles.articles (id) on delete cascade
);

comment on column articles.favorites.created_at is 'when the article was created, not when it became a favorite: lists are in that order';

create index favorites_newest_idx on articles.favorites (account_id, created_at desc, article_id desc) include (author_id);
create index favorites_article_idx on articles.favorites (article_id);

-- Totals, changed in the transaction that changes what they count; always locked in this order, tags by code point.
create table articles.tag_totals (
  tag text collate "C" not null,
  articles bigint not null,
  constraint tag_totals_pkey primary key (tag)
) with (fillfactor = 70);

create table articles.author_totals (
  author_id bigint not null,
  articles bigint not null,
  constraint author_totals_pkey primary key (author_id)
) with (fillfactor = 70);

create table articles.article_total (
  only_row boolean not null default true,
  articles bigint not null,
  constraint article_total_pkey primary key (only_row),
  constraint article_total_one_row check (only_row)
);

insert into articles.article_total (articles) values (0);

-- Articles that are gone, for those who keep something about them elsewhere (the comments service polls it). Ids commit out
-- of order, so a reader goes by the transaction and never past the oldest one still running.
create table articles.deletions (
  article_id bigint not null,
  transaction_id xid8 not null default pg_current_xact_id(),
  deleted_at timestamptz not null,
  constraint deletions_pkey primary key (article_id)
);

create index deletions_order_idx on articles.deletions (transaction_id, article_id);
create index deletions_deleted_at_idx on articles.deletions (deleted_at);
