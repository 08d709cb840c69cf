-- Accounts. The keys are the Unicode lower-case forms of the name and the address, made by the application (contract 3.8);
-- "C" compares them byte for byte, whatever the server's locale.
create table users.accounts (
  id bigint generated always as identity,
  username text not null,
  username_key text collate "C" not null,
  email text not null,
  email_key text collate "C" not null,
  password_hash text not null,
  bio text,
  image text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint accounts_pkey primary key (id),
  constraint accounts_username_key unique (username_key),
  constraint accounts_email_key unique (email_key)
);
