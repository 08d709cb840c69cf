//! One step of a program. Numbers point into what exists when the step is played, and into the words.

use proptest::prelude::*;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Viewer {
    /// One of the program's accounts; registered when it is first needed.
    Account(usize),
    /// Whoever wrote what the step is about.
    Author,
    /// Nobody.
    Anonymous,
    /// Somebody with a token that is none.
    Forger,
}

/// How a name is written in a path or filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    AsIs,
    OtherCase,
    Unknown,
}

/// Filters and page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) tag: Option<usize>,
    pub(super) author: Option<(usize, Spelling)>,
    pub(super) favorited: Option<(usize, Spelling)>,
    pub(super) limit: usize,
    pub(super) offset: usize,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Register {
        name: usize,
        email: usize,
        password: usize,
    },
    Login {
        who: usize,
        password: usize,
        spelling: Spelling,
    },
    ReadUser {
        viewer: Viewer,
    },
    UpdateUser {
        viewer: Viewer,
        name: usize,
        email: usize,
        password: usize,
        bio: usize,
        image: usize,
    },
    ReadProfile {
        viewer: Viewer,
        whom: usize,
        spelling: Spelling,
    },
    Follow {
        viewer: Viewer,
        whom: usize,
        spelling: Spelling,
    },
    Unfollow {
        viewer: Viewer,
        whom: usize,
        spelling: Spelling,
    },
    Publish {
        viewer: Viewer,
        title: usize,
        description: usize,
        body: usize,
        tags: usize,
    },
    Edit {
        viewer: Viewer,
        article: usize,
        title: usize,
        description: usize,
        body: usize,
        tags: usize,
    },
    ReadArticle {
        viewer: Viewer,
        article: usize,
    },
    DeleteArticle {
        viewer: Viewer,
        article: usize,
    },
    Favorite {
        viewer: Viewer,
        article: usize,
    },
    Unfavorite {
        viewer: Viewer,
        article: usize,
    },
    Comment {
        viewer: Viewer,
        article: usize,
        body: usize,
    },
    ReadComments {
        viewer: Viewer,
        article: usize,
        limit: usize,
        offset: usize,
    },
    DeleteComment {
        viewer: Viewer,
        comment: usize,
        elsewhere: bool,
    },
    List {
        viewer: Viewer,
        query: Query,
    },
    Feed {
        viewer: Viewer,
        limit: usize,
        offset: usize,
    },
    Tags,
    Malformed {
        viewer: Viewer,
        route: usize,
        body: usize,
    },
}

/// Accounts of a program.
pub(super) const ACCOUNTS: usize = 4;

fn account() -> impl Strategy<Value = usize> {
    0..ACCOUNTS
}

fn viewer() -> impl Strategy<Value = Viewer> {
    prop_oneof![
        20 => account().prop_map(Viewer::Account),
        2 => Just(Viewer::Anonymous),
        1 => Just(Viewer::Forger),
    ]
}

/// For what authors alone may do.
fn author() -> impl Strategy<Value = Viewer> {
    prop_oneof![3 => Just(Viewer::Author), 2 => viewer()]
}

fn reader() -> impl Strategy<Value = Viewer> {
    prop_oneof![
        12 => account().prop_map(Viewer::Account),
        6 => Just(Viewer::Anonymous),
        1 => Just(Viewer::Forger),
    ]
}

fn spelling() -> impl Strategy<Value = Spelling> {
    prop_oneof![6 => Just(Spelling::AsIs), 2 => Just(Spelling::OtherCase), 1 => Just(Spelling::Unknown)]
}

/// Something that exists: taken modulo how many there are.
fn thing() -> impl Strategy<Value = usize> {
    0..24_usize
}

/// A place among the words of a field; the first ones are good input, and come more often.
fn word() -> impl Strategy<Value = usize> {
    prop_oneof![7 => 0..4_usize, 2 => 0..32_usize]
}

/// As [`word`], but mostly the first, which leaves the field out.
fn change() -> impl Strategy<Value = usize> {
    prop_oneof![3 => Just(0_usize), 2 => 0..5_usize, 1 => 0..32_usize]
}

fn paging() -> impl Strategy<Value = usize> {
    prop_oneof![5 => Just(0_usize), 4 => 0..6_usize, 1 => 0..16_usize]
}

fn query() -> impl Strategy<Value = Query> {
    let name = || proptest::option::weighted(0.4, (account(), spelling()));
    (
        proptest::option::weighted(0.35, 0..8_usize),
        name(),
        name(),
        paging(),
        paging(),
    )
        .prop_map(|(tag, author, favorited, limit, offset)| Query {
            tag,
            author,
            favorited,
            limit,
            offset,
        })
}

/// Any step.
pub(super) fn op() -> impl Strategy<Value = Op> {
    prop_oneof![4 => people(), 7 => articles(), 6 => reads()]
}

fn people() -> BoxedStrategy<Op> {
    prop_oneof![
        2 => (word(), word(), word())
            .prop_map(|(name, email, password)| Op::Register { name, email, password }),
        2 => (account(), 0..4_usize, spelling())
            .prop_map(|(who, password, spelling)| Op::Login { who, password, spelling }),
        4 => (viewer(), change(), change(), change(), change(), change()).prop_map(
            |(viewer, name, email, password, bio, image)| Op::UpdateUser { viewer, name, email, password, bio, image }
        ),
        4 => single_change(),
        6 => (viewer(), account(), spelling())
            .prop_map(|(viewer, whom, spelling)| Op::Follow { viewer, whom, spelling }),
        2 => (viewer(), account(), spelling())
            .prop_map(|(viewer, whom, spelling)| Op::Unfollow { viewer, whom, spelling }),
    ]
    .boxed()
}

/// One change at a time succeeds more often than many.
fn single_change() -> impl Strategy<Value = Op> {
    (account(), 0..5_usize, 1..7_usize).prop_map(|(who, field, place)| {
        let only = |this: usize| if field == this { place } else { 0 };
        // Renaming is what most other answers depend on.
        let name = only(0).max(only(1)).max(only(2));
        let viewer = Viewer::Account(who);
        Op::UpdateUser {
            viewer,
            name,
            email: 0,
            password: 0,
            bio: only(3),
            image: only(4),
        }
    })
}

fn articles() -> BoxedStrategy<Op> {
    prop_oneof![
        7 => (viewer(), word(), word(), word(), word()).prop_map(
            |(viewer, title, description, body, tags)| Op::Publish { viewer, title, description, body, tags }
        ),
        5 => (author(), thing(), change(), change(), change(), change()).prop_map(
            |(viewer, article, title, description, body, tags)| {
                Op::Edit { viewer, article, title, description, body, tags }
            }
        ),
        2 => (author(), thing()).prop_map(|(viewer, article)| Op::DeleteArticle { viewer, article }),
        6 => (viewer(), thing()).prop_map(|(viewer, article)| Op::Favorite { viewer, article }),
        2 => (viewer(), thing()).prop_map(|(viewer, article)| Op::Unfavorite { viewer, article }),
        6 => (viewer(), thing(), word()).prop_map(|(viewer, article, body)| Op::Comment { viewer, article, body }),
        3 => (author(), thing(), proptest::bool::weighted(0.15)).prop_map(
            |(viewer, comment, elsewhere)| Op::DeleteComment { viewer, comment, elsewhere }
        ),
        1 => (viewer(), 0..4_usize, 0..8_usize)
            .prop_map(|(viewer, route, body)| Op::Malformed { viewer, route, body }),
    ]
    .boxed()
}

fn reads() -> BoxedStrategy<Op> {
    prop_oneof![
        1 => reader().prop_map(|viewer| Op::ReadUser { viewer }),
        3 => (reader(), account(), spelling())
            .prop_map(|(viewer, whom, spelling)| Op::ReadProfile { viewer, whom, spelling }),
        4 => (reader(), thing()).prop_map(|(viewer, article)| Op::ReadArticle { viewer, article }),
        4 => (reader(), thing(), paging(), paging())
            .prop_map(|(viewer, article, limit, offset)| Op::ReadComments { viewer, article, limit, offset }),
        7 => (reader(), query()).prop_map(|(viewer, query)| Op::List { viewer, query }),
        4 => (reader(), paging(), paging())
            .prop_map(|(viewer, limit, offset)| Op::Feed { viewer, limit, offset }),
        1 => Just(Op::Tags),
    ]
    .boxed()
}
