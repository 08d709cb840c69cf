//! Who owns what in the database.

use sqlx::migrate::Migrator;

/// An owner of tables: one for each service, and the monolith, which owns only the keys between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// Accounts.
    Users,
    /// Who follows whom.
    Profiles,
    /// Articles, tags, favorites.
    Articles,
    /// Comments.
    Comments,
    /// Keys across owners.
    Monolith,
}

impl Owner {
    /// All of them, in the order in which their migrations run: the keys between the tables come last.
    pub const ALL: [Self; 5] = [
        Self::Users,
        Self::Profiles,
        Self::Articles,
        Self::Comments,
        Self::Monolith,
    ];

    /// The schema with the owner's tables, as in `users`.
    #[must_use]
    pub fn schema(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::Profiles => "profiles",
            Self::Articles => "articles",
            Self::Comments => "comments",
            Self::Monolith => "monolith",
        }
    }

    /// The role that owns the schema, as in `conduit_users`.
    #[must_use]
    pub fn role(self) -> &'static str {
        match self {
            Self::Users => "conduit_users",
            Self::Profiles => "conduit_profiles",
            Self::Articles => "conduit_articles",
            Self::Comments => "conduit_comments",
            Self::Monolith => "conduit_monolith",
        }
    }

    /// Whose tables a process that logs in as this owner uses, and so brings up to date.
    #[must_use]
    pub fn uses(self) -> Vec<Self> {
        match self {
            Self::Monolith => Self::ALL.to_vec(),
            service => vec![service],
        }
    }

    /// The owner's migrations with the table that records them, in the owner's own schema. Migrations that are
    /// recorded but not known here were made by a newer program, which keeps older ones running (architecture,
    /// section 7).
    pub(super) fn migrator(self) -> Migrator {
        let mut migrator = match self {
            Self::Users => sqlx::migrate!("../../sql/migrations/users"),
            Self::Profiles => sqlx::migrate!("../../sql/migrations/profiles"),
            Self::Articles => sqlx::migrate!("../../sql/migrations/articles"),
            Self::Comments => sqlx::migrate!("../../sql/migrations/comments"),
            Self::Monolith => sqlx::migrate!("../../sql/migrations/monolith"),
        };
        migrator.dangerous_set_table_name(self.migration_table());
        // Our own lock is held around all owners' migrations.
        migrator.set_ignore_missing(true).set_locking(false);
        migrator
    }

    pub(super) fn migration_table(self) -> String {
        format!("{}._sqlx_migrations", self.schema())
    }
}
