//! Creating: members and tags (art-001 to art-010).

use serde_json::{Value, json};

use super::{BLANK, INVALID, is_slug, stranger};
use crate::checks::{Check, Ctx, Failure, Outcome, enc, same};
use crate::shape::Article;

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new("art-001", "create with two tags", an_article_comes_back_as_sent),
        Check::new("art-002", "create without tagList; with []", tags_are_optional),
        Check::new(
            "art-003",
            "create with tagList null, text, [1], [null], {}",
            only_lists_of_texts_are_tags,
        ),
        Check::new(
            "art-004",
            "create with unsorted, blank, repeated tags; GET; list",
            tags_are_trimmed_sorted_and_single,
        ),
        Check::new(
            "art-005",
            "create with tags of 64, 65 characters; with 100, 101 tags; 101 equal ones",
            tags_are_bounded,
        ),
        Check::new("art-006", "create with title blank", the_title_is_required),
        Check::new(
            "art-007",
            "create with description blank",
            the_description_is_required,
        ),
        Check::new("art-008", "create with body blank", the_body_is_required),
        Check::new(
            "art-009",
            "create with nothing, nulls, white space, wrong types",
            all_offending_members_are_reported,
        ),
        Check::new(
            "art-010",
            "create with title of 255, 256, description of 1000, 1001 characters",
            title_and_description_are_bounded,
        ),
    ]
}

async fn an_article_comes_back_as_sent(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let [title, description, body] = ["Title", "About", "Body"].map(|word| format!("{word} {}", ctx.x()));
    let tags = ["d", "t"].map(|word| format!("{word}_{}", ctx.x()));
    let members = json!({"title": title, "description": description, "body": body, "tagList": tags});
    let answer = ctx.creation(&ann.token, members).expect(201).await?;
    let article = answer.article()?;
    answer.holds("the slug has the form of contract 3.1", is_slug(&article.slug))?;
    answer.same(
        "updatedAt, held against createdAt",
        &article.updated_at,
        &article.created_at,
    )?;
    let expected = Article {
        title,
        description,
        body: Some(body),
        tag_list: tags.to_vec(),
        favorited: false,
        favorites_count: 0,
        author: stranger(&ann),
        ..article.clone()
    };
    answer.same("the article", article, expected)?;
    Ok(())
}

async fn tags_are_optional(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    for tags in [None, Some(json!([]))] {
        let mut members = members(&ctx);
        if let Some(tags) = tags {
            put(&mut members, "tagList", tags);
        }
        let title = members.get("title").cloned();
        let answer = ctx.creation(&ann.token, members).expect(201).await?;
        let article = answer.article()?;
        answer
            .same("title", Some(json!(article.title)), title)?
            .same("tagList", article.tag_list, Vec::<String>::new())?
            .holds("the slug has the form of contract 3.1", is_slug(&article.slug))?;
    }
    Ok(())
}

async fn only_lists_of_texts_are_tags(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    for tags in [json!(null), json!("x"), json!([1]), json!([null]), json!({})] {
        tagged(&ctx, &ann.token, tags)
            .refused(422, "tagList", INVALID)
            .await?;
    }
    Ok(())
}

async fn tags_are_trimmed_sorted_and_single(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let x = ctx.x();
    let [training, dragons, zoo, eclair, a] =
        ["training", "dragons", "Zoo", "éclair", "a"].map(|word| format!("{word}{x}"));
    let sent = json!([training, dragons, zoo, eclair, format!(" {a} "), a, "", "  "]);
    let expected = vec![zoo, a, dragons, training, eclair];
    let answer = tagged(&ctx, &ann.token, sent).expect(201).await?;
    let article = answer.article()?;
    answer.same("tagList", &article.tag_list, &expected)?;
    let read = ctx.article(&article.slug, None).await?;
    same("tagList on GET", &read.tag_list, &expected)?;
    let queries = [
        format!("author={}", ann.username),
        format!("tag={}", enc(&format!("éclair{x}"))),
    ];
    for query in queries {
        let list = ctx.list(&query, None).await?;
        let tags = list.find(&article.slug).map(|entry| &entry.tag_list);
        same("tagList in the list", tags, Some(&expected))?;
    }
    Ok(())
}

async fn tags_are_bounded(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    // Two bytes a letter: lengths are counted in code points (contract 1.9).
    let longest = padded(&ctx, 'ü', 64);
    let longer = format!("{longest}ü");
    let many = |count: usize| -> Vec<String> {
        let x = ctx.x();
        (0..count).map(|i| format!("{x}{i:03}")).collect()
    };
    let (hundred, hundred_and_one) = (many(100), many(101));
    let equal = ctx.x();

    accepted(&ctx, &ann.token, json!([longest]), vec![longest]).await?;
    tagged(&ctx, &ann.token, json!([longer]))
        .refused(422, "tagList", "is too long (maximum is 64 characters)")
        .await?;
    accepted(&ctx, &ann.token, json!(hundred), hundred).await?;
    tagged(&ctx, &ann.token, json!(hundred_and_one))
        .refused(422, "tagList", "is too long (maximum is 100 tags)")
        .await?;
    accepted(&ctx, &ann.token, json!(vec![&equal; 101]), vec![equal]).await
}

async fn accepted(ctx: &Ctx, token: &str, tags: Value, expected: Vec<String>) -> Outcome {
    let answer = tagged(ctx, token, tags).expect(201).await?;
    answer.same("tagList", answer.article()?.tag_list, expected)?;
    Ok(())
}

async fn the_title_is_required(ctx: Ctx) -> Outcome {
    refuses_blank(ctx, "title").await
}

async fn the_description_is_required(ctx: Ctx) -> Outcome {
    refuses_blank(ctx, "description").await
}

async fn the_body_is_required(ctx: Ctx) -> Outcome {
    refuses_blank(ctx, "body").await
}

async fn refuses_blank(ctx: Ctx, member: &str) -> Outcome {
    let ann = ctx.register().await?;
    let mut members = members(&ctx);
    put(&mut members, member, json!(""));
    ctx.creation(&ann.token, members)
        .refused(422, member, BLANK)
        .await?;
    Ok(())
}

async fn all_offending_members_are_reported(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let blank = [
        json!({}),
        json!({"title": null, "description": null, "body": null}),
        json!({"title": " ", "description": "\t\n", "body": " \u{2003}\r\n"}),
    ];
    for members in blank {
        ctx.creation(&ann.token, members)
            .refused_all(422, &[("title", BLANK), ("description", BLANK), ("body", BLANK)])
            .await?;
    }
    let wrong = json!({"title": 5, "description": [], "body": {}, "tagList": null});
    let keys = ["title", "description", "body", "tagList"].map(|key| (key, INVALID));
    ctx.creation(&ann.token, wrong).refused_all(422, &keys).await?;
    Ok(())
}

async fn title_and_description_are_bounded(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let rows = [
        ("title", 255, "is too long (maximum is 255 characters)"),
        ("description", 1000, "is too long (maximum is 1000 characters)"),
    ];
    for (member, most, message) in rows {
        let longest = padded(&ctx, 'é', most);
        let answer = ctx
            .creation(&ann.token, with(&ctx, member, json!(longest)))
            .expect(201)
            .await?;
        let article = answer.article()?;
        let came = if member == "title" {
            article.title
        } else {
            article.description
        };
        answer.same(member, came, longest.clone())?;
        ctx.creation(&ann.token, with(&ctx, member, json!(format!("{longest}é"))))
            .refused(422, member, message)
            .await?;
    }
    Ok(())
}

/// Title, description and body with fresh texts.
pub(super) fn members(ctx: &Ctx) -> Value {
    let [title, description, body] = ["Title", "About", "Body"].map(|word| format!("{word} {}", ctx.x()));
    json!({"title": title, "description": description, "body": body})
}

/// [`members`] with one of them set to this value, or this one added.
pub(super) fn with(ctx: &Ctx, member: &str, value: Value) -> Value {
    let mut members = members(ctx);
    put(&mut members, member, value);
    members
}

fn put(members: &mut Value, member: &str, value: Value) {
    if let Some(object) = members.as_object_mut() {
        object.insert(member.to_owned(), value);
    }
}

fn tagged(ctx: &Ctx, token: &str, tags: Value) -> crate::call::Call {
    ctx.creation(token, with(ctx, "tagList", tags))
}

/// A fresh text filled up with one letter to this many characters.
pub(super) fn padded(ctx: &Ctx, letter: char, length: usize) -> String {
    let x = ctx.x();
    let rest = length.saturating_sub(x.len());
    x.chars().chain(std::iter::repeat_n(letter, rest)).collect()
}

/// An article created with this title.
pub(super) async fn titled(ctx: &Ctx, token: &str, title: &str) -> Result<Article, Failure> {
    ctx.creation(token, with(ctx, "title", json!(title)))
        .expect(201)
        .await?
        .article()
}
