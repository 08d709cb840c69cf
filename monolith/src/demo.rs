//! A little readable content for an empty store, so that a newcomer or a front end has something to show (`--demo`).
//!
//! It goes through the use cases, as a client's requests would, so every rule holds for it too.

use anyhow::Context;
use conduit_domain::{AccountId, Body};
use conduit_store::UserStore;
use conduit_store::db::Db;
use conduit_web::Api;
use serde_json::json;

/// The password of every account of the demonstration.
pub const PASSWORD: &str = "conduit-demo";

struct Person {
    name: &'static str,
    bio: &'static str,
    follows: &'static [&'static str],
}

const PEOPLE: [Person; 4] = [
    Person {
        name: "ada",
        bio: "Counts things, and writes down how she counted them.",
        follows: &["grace", "linus-the-baker"],
    },
    Person {
        name: "grace",
        bio: "Finds the moth, keeps the moth.",
        follows: &["ada"],
    },
    Person {
        name: "linus-the-baker",
        bio: "Flour, water, salt, patience.",
        follows: &["zoë"],
    },
    Person {
        name: "zoë",
        bio: "Reads more than she writes.",
        follows: &["ada", "grace", "linus-the-baker"],
    },
];

struct Post {
    author: &'static str,
    title: &'static str,
    description: &'static str,
    body: &'static str,
    tags: &'static [&'static str],
    fans: &'static [&'static str],
    comments: &'static [(&'static str, &'static str)],
}

const POSTS: [Post; 6] = [
    Post {
        author: "linus-the-baker",
        title: "Bread notes",
        description: "What worked, what did not, and why I stopped kneading",
        body: "Flour first.\n\nThen water, and then **nothing** for half an hour. The dough does the work that I used to do.\n\n- 500 g flour\n- 350 g water\n- 10 g salt\n- a spoon of starter",
        tags: &["baking", "food"],
        fans: &["ada", "zoë"],
        comments: &[
            ("ada", "350 g of water is 70 % of the flour: I counted."),
            ("linus-the-baker", "You always do."),
        ],
    },
    Post {
        author: "grace",
        title: "The moth in the relay",
        description: "A first case of a bug actually being found",
        body: "We taped it into the log book. A fault that you can show to people is worth ten that you can only describe.",
        tags: &["debugging", "history"],
        fans: &["ada", "zoë", "linus-the-baker"],
        comments: &[
            ("zoë", "Is the moth still there?"),
            ("grace", "It is. It has outlived the machine."),
        ],
    },
    Post {
        author: "ada",
        title: "On counting twice",
        description: "Two ways to the same number are better than one way taken twice",
        body: "If two machines are given the same questions and always give the same answers, then either may be asked.\n\nThat they are built differently is what makes the agreement worth something.",
        tags: &["mathematics", "debugging"],
        fans: &["grace"],
        comments: &[],
    },
    Post {
        author: "ada",
        title: "What a join costs",
        description: "One question to one book, or four questions to four books",
        body: "One clerk with one large book answers in a minute. Four clerks with a book each answer in a minute, too, and then somebody has to put the answers together.",
        tags: &["databases", "mathematics"],
        fans: &["zoë"],
        comments: &[("grace", "And somebody has to wait for the slowest clerk.")],
    },
    Post {
        author: "linus-the-baker",
        title: "Crème brûlée without a torch",
        description: "A grill, a hot spoon, and a little courage",
        body: "Put the spoon into the fire, not into the cream. Then the cream.",
        tags: &["baking", "dessert", "food"],
        fans: &[],
        comments: &[],
    },
    Post {
        author: "zoë",
        title: "Читать медленно",
        description: "Reading slowly, in any script",
        body: "Some books ask for an evening, some for a year. 📚",
        tags: &["reading"],
        fans: &["ada"],
        comments: &[
            ("ada", "How many pages an hour?"),
            ("zoë", "I do not count them."),
        ],
    },
];

/// Fills the store, unless somebody has an account there already. True if it did.
///
/// # Errors
/// Those of the store.
pub(crate) async fn fill(db: Db, api: &Api) -> anyhow::Result<bool> {
    if !UserStore::new(db).is_empty().await? {
        return Ok(false);
    }
    let mut accounts = Vec::new();
    for person in &PEOPLE {
        accounts.push((
            person.name,
            register(api, person).await.with_context(|| person.name)?,
        ));
    }
    for person in &PEOPLE {
        let profiles = api.profiles.as_ref().context("no profiles")?;
        for name in person.follows {
            profiles.follow(id_of(&accounts, person.name)?, name).await?;
        }
    }
    for post in &POSTS {
        publish(api, &accounts, post).await.with_context(|| post.title)?;
    }
    Ok(true)
}

async fn register(api: &Api, person: &Person) -> anyhow::Result<AccountId> {
    let users = api.users.as_ref().context("no users")?;
    // An address has no letters outside ASCII here, so that people can type it.
    let email = format!("{}@conduit.example", person.name.replace('ë', "e"));
    let account = json!({"user": {"username": person.name, "email": email, "password": PASSWORD}});
    let id = users.register(body(&account)?).await?.account.id;
    users
        .update(id, body(&json!({"user": {"bio": person.bio}}))?)
        .await?;
    Ok(id)
}

async fn publish(api: &Api, accounts: &[(&str, AccountId)], post: &Post) -> anyhow::Result<()> {
    let articles = api.articles.as_ref().context("no articles")?;
    let comments = api.comments.as_ref().context("no comments")?;
    let Post {
        author,
        title,
        description,
        body: text,
        tags,
        ..
    } = post;
    let article =
        json!({"article": {"title": title, "description": description, "body": text, "tagList": tags}});
    let slug = articles
        .create(id_of(accounts, author)?, body(&article)?)
        .await?
        .summary
        .slug;
    for fan in post.fans {
        articles.favorite(id_of(accounts, fan)?, &slug).await?;
    }
    for (name, text) in post.comments {
        comments
            .add(
                id_of(accounts, name)?,
                &slug,
                body(&json!({"comment": {"body": text}}))?,
            )
            .await?;
    }
    Ok(())
}

fn body(value: &serde_json::Value) -> anyhow::Result<Body> {
    Ok(Body::parse(value.to_string().as_bytes())?)
}

fn id_of(accounts: &[(&str, AccountId)], name: &str) -> anyhow::Result<AccountId> {
    accounts
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, id)| *id)
        .context("nobody of that name")
}
