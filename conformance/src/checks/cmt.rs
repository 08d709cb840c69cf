//! Comments (contract 5.9).

use serde_json::{Value, json};

use super::{Check, Ctx, Failure, Outcome, article_path, same};
use crate::call::Call;
use crate::shape::{Comment, Profile};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new("cmt-001", "create comment", commenting_answers_the_comment),
        Check::new("cmt-002", "GET comments with token", the_author_reads_the_comment),
        Check::new("cmt-003", "GET comments without token", anyone_reads_the_comment),
        Check::new("cmt-004", "delete own comment; GET", a_deleted_comment_is_gone),
        Check::new(
            "cmt-005",
            "two comments; GET; delete the first; GET; delete article",
            the_other_comment_stays,
        ),
        Check::new("cmt-006", "comment with body \"\"", an_empty_body_is_refused),
        Check::new(
            "cmt-007",
            "comment with body absent, null, \" \\n \", 7, []",
            a_body_is_a_text_that_is_not_blank,
        ),
        Check::new(
            "cmt-008",
            "comment on unknown slug",
            an_unknown_article_gets_no_comment,
        ),
        Check::new(
            "cmt-009",
            "GET comments of unknown slug, with and without token",
            an_unknown_article_has_no_comments,
        ),
        Check::new(
            "cmt-010",
            "delete comment 99999 of unknown slug",
            the_article_is_looked_for_first,
        ),
        Check::new(
            "cmt-011",
            "delete comment 99999 of a known slug",
            an_unknown_comment_is_not_found,
        ),
        Check::new(
            "cmt-012",
            "another account deletes; GET",
            strangers_do_not_delete_comments,
        ),
        Check::new(
            "cmt-013",
            "delete with ids that are no positive decimal integers",
            odd_ids_name_no_comment,
        ),
        Check::new(
            "cmt-014",
            "comment on article X; delete its id under article Y",
            a_comment_is_found_under_its_article_only,
        ),
        Check::new(
            "cmt-015",
            "four comments of two accounts",
            the_newest_comment_comes_first,
        ),
        Check::new(
            "cmt-016",
            "article's author deletes another account's comment",
            the_articles_author_does_not_delete_comments,
        ),
        Check::new(
            "cmt-017",
            "body with U+0000; of 10000 / 10001 characters; with blanks and emoji",
            a_body_has_a_length_and_is_kept_as_sent,
        ),
        Check::new(
            "cmt-018",
            "unknown slug with bad bodies; delete twice; comment again",
            faults_have_an_order_and_ids_are_not_used_again,
        ),
    ]
}

const NO_ARTICLE: (&str, &str) = ("article", "not found");
const NO_COMMENT: (&str, &str) = ("comment", "not found");

/// An article of a fresh account, the token of its author, the author as the API shows it to everyone.
struct Scene {
    slug: String,
    token: String,
    author: Profile,
}

async fn scene(ctx: &Ctx) -> Result<Scene, Failure> {
    let ann = ctx.register().await?;
    let author = Profile {
        username: ann.username.clone(),
        bio: None,
        image: None,
        following: false,
    };
    Ok(Scene {
        slug: ctx.publish(&ann, &[]).await?.slug,
        token: ann.token,
        author,
    })
}

fn comments_path(slug: &str) -> String {
    format!("{}/comments", article_path(slug))
}

/// The call that deletes, not sent yet; the id goes out as it is.
fn deleting(ctx: &Ctx, token: &str, slug: &str, id: impl std::fmt::Display) -> Call {
    ctx.delete(&format!("{}/{id}", comments_path(slug))).token(token)
}

async fn not_found(call: Call, (key, message): (&str, &str)) -> Result<(), Failure> {
    call.refused(404, key, message).await?;
    Ok(())
}

/// The comments that everybody sees are these.
async fn comments_are(ctx: &Ctx, slug: &str, expected: &[&Comment]) -> Result<(), Failure> {
    let answer = ctx.get(&comments_path(slug)).expect(200).await?;
    let came = answer.comments()?;
    answer.same("the comments", came.iter().collect::<Vec<_>>(), expected)?;
    Ok(())
}

async fn commenting_answers_the_comment(ctx: Ctx) -> Outcome {
    let Scene { slug, token, author } = scene(&ctx).await?;
    let answer = ctx
        .commenting(&token, &slug, json!("Thank you so much!"))
        .expect(201)
        .await?;
    let comment = answer.comment()?;
    answer
        .holds("the id is positive", comment.id > 0)?
        .same("body", comment.body, "Thank you so much!")?
        .same("updatedAt", comment.updated_at, comment.created_at)?
        .same("author", comment.author, author)?;
    Ok(())
}

async fn the_author_reads_the_comment(ctx: Ctx) -> Outcome {
    let Scene { slug, token, .. } = scene(&ctx).await?;
    let comment = ctx.comment(&token, &slug, "First!").await?;
    let answer = ctx.get(&comments_path(&slug)).token(&token).expect(200).await?;
    answer.same("the comments", answer.comments()?, [comment])?;
    Ok(())
}

async fn anyone_reads_the_comment(ctx: Ctx) -> Outcome {
    let Scene { slug, token, author } = scene(&ctx).await?;
    let comment = ctx.comment(&token, &slug, "First!").await?;
    let answer = ctx.get(&comments_path(&slug)).expect(200).await?;
    let expected = Comment { author, ..comment };
    answer
        .holds("the expected author is not followed", !expected.author.following)?
        .same("the comments", answer.comments()?, [expected])?;
    Ok(())
}

async fn a_deleted_comment_is_gone(ctx: Ctx) -> Outcome {
    let Scene { slug, token, .. } = scene(&ctx).await?;
    let comment = ctx.comment(&token, &slug, "Soon gone").await?;
    deleting(&ctx, &token, &slug, comment.id).expect(204).await?;
    let answer = ctx.get(&comments_path(&slug)).expect(200).await?;
    answer.exact(r#"{"comments":[]}"#)?;
    Ok(())
}

async fn the_other_comment_stays(ctx: Ctx) -> Outcome {
    let Scene { slug, token, .. } = scene(&ctx).await?;
    let first = ctx.comment(&token, &slug, "One").await?;
    let second = ctx.comment(&token, &slug, "Two").await?;
    comments_are(&ctx, &slug, &[&second, &first]).await?;
    deleting(&ctx, &token, &slug, first.id).expect(204).await?;
    comments_are(&ctx, &slug, &[&second]).await?;
    ctx.remove(&token, &slug).await?;
    Ok(())
}

async fn an_empty_body_is_refused(ctx: Ctx) -> Outcome {
    let Scene { slug, token, .. } = scene(&ctx).await?;
    let call = ctx.commenting(&token, &slug, json!(""));
    call.refused(422, "body", "can't be blank").await?;
    Ok(())
}

async fn a_body_is_a_text_that_is_not_blank(ctx: Ctx) -> Outcome {
    const BLANK: &str = "can't be blank";
    const INVALID: &str = "is invalid";
    let Scene { slug, token, .. } = scene(&ctx).await?;
    let absent = ctx
        .post(&comments_path(&slug))
        .token(&token)
        .json(&json!({"comment": {}}));
    absent.refused(422, "body", BLANK).await?;
    let rows = [
        (Value::Null, BLANK),
        (json!(" \n "), BLANK),
        (json!(7), INVALID),
        (json!([]), INVALID),
    ];
    for (body, message) in rows {
        let call = ctx.commenting(&token, &slug, body);
        call.refused(422, "body", message).await?;
    }
    comments_are(&ctx, &slug, &[]).await
}

async fn an_unknown_article_gets_no_comment(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let call = ctx.commenting(&ann.token, &ctx.x(), json!("Hello?"));
    not_found(call, NO_ARTICLE).await
}

async fn an_unknown_article_has_no_comments(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let path = comments_path(&ctx.x());
    not_found(ctx.get(&path).token(&ann.token), NO_ARTICLE).await?;
    not_found(ctx.get(&path), NO_ARTICLE).await
}

async fn the_article_is_looked_for_first(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let call = deleting(&ctx, &ann.token, &ctx.x(), 99999);
    not_found(call, NO_ARTICLE).await
}

async fn an_unknown_comment_is_not_found(ctx: Ctx) -> Outcome {
    let Scene { slug, token, .. } = scene(&ctx).await?;
    not_found(deleting(&ctx, &token, &slug, 99999), NO_COMMENT).await
}

async fn strangers_do_not_delete_comments(ctx: Ctx) -> Outcome {
    let Scene { slug, token, .. } = scene(&ctx).await?;
    let stranger = ctx.register().await?;
    let comment = ctx.comment(&token, &slug, "Mine").await?;
    let call = deleting(&ctx, &stranger.token, &slug, comment.id);
    call.refused(403, "comment", "forbidden").await?;
    comments_are(&ctx, &slug, &[&comment]).await
}

async fn odd_ids_name_no_comment(ctx: Ctx) -> Outcome {
    let Scene { slug, token, .. } = scene(&ctx).await?;
    let comment = ctx.comment(&token, &slug, "Still here").await?;
    let mut ids: Vec<String> = ["abc", "0", "-1", "1.0", "+1", "01"].map(str::to_owned).into();
    ids.push("9".repeat(30));
    // The same spellings of an id that exists: a lax reader would find and delete it.
    let id = comment.id;
    ids.extend([format!("{id}.0"), format!("+{id}"), format!("0{id}")]);
    for id in ids {
        not_found(deleting(&ctx, &token, &slug, id), NO_COMMENT).await?;
    }
    comments_are(&ctx, &slug, &[&comment]).await
}

async fn a_comment_is_found_under_its_article_only(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let (x, y) = (ctx.publish(&ann, &[]).await?, ctx.publish(&ann, &[]).await?);
    let comment = ctx.comment(&ann.token, &x.slug, "About X").await?;
    not_found(deleting(&ctx, &ann.token, &y.slug, comment.id), NO_COMMENT).await?;
    comments_are(&ctx, &x.slug, &[&comment]).await
}

async fn the_newest_comment_comes_first(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let (x, y) = (
        ctx.publish(&ann, &[]).await?.slug,
        ctx.publish(&ben, &[]).await?.slug,
    );
    let one = ctx.comment(&ann.token, &x, "1").await?;
    let two = ctx.comment(&ben.token, &x, "2").await?;
    let elsewhere = ctx.comment(&ann.token, &y, "elsewhere").await?;
    let three = ctx.comment(&ben.token, &x, "3").await?;
    let four = ctx.comment(&ann.token, &x, "4").await?;
    comments_are(&ctx, &x, &[&four, &three, &two, &one]).await?;
    let ids = [&one, &two, &elsewhere, &three, &four].map(|comment| comment.id);
    super::holds(
        &format!("the ids {ids:?} grow strictly"),
        ids.is_sorted_by(|earlier, later| earlier < later),
    )
}

async fn the_articles_author_does_not_delete_comments(ctx: Ctx) -> Outcome {
    let Scene { slug, token, .. } = scene(&ctx).await?;
    let ben = ctx.register().await?;
    let comment = ctx.comment(&ben.token, &slug, "Ben's").await?;
    let call = deleting(&ctx, &token, &slug, comment.id);
    call.refused(403, "comment", "forbidden").await?;
    comments_are(&ctx, &slug, &[&comment]).await
}

async fn a_body_has_a_length_and_is_kept_as_sent(ctx: Ctx) -> Outcome {
    let Scene { slug, token, .. } = scene(&ctx).await?;
    let call = ctx.commenting(&token, &slug, json!("a\0b"));
    call.refused(422, "body", "is invalid").await?;
    let long = "é".repeat(10_000);
    let longest = ctx.comment(&token, &slug, &long).await?;
    super::holds("10000 characters come back whole", longest.body == long)?;
    let call = ctx.commenting(&token, &slug, json!(format!("{long}é")));
    call.refused(422, "body", "is too long (maximum is 10000 characters)")
        .await?;
    let odd = ctx.comment(&token, &slug, "  a\n🦀 ").await?;
    same("body", odd.body.as_str(), "  a\n🦀 ")?;
    comments_are(&ctx, &slug, &[&odd, &longest]).await
}

async fn faults_have_an_order_and_ids_are_not_used_again(ctx: Ctx) -> Outcome {
    let Scene { slug, token, .. } = scene(&ctx).await?;
    let unknown = ctx.x();
    not_found(ctx.commenting(&token, &unknown, json!(" ")), NO_ARTICLE).await?;
    let call = ctx
        .post(&comments_path(&unknown))
        .token(&token)
        .body(r#"{"comment":"#);
    call.refused(400, "request", "is malformed").await?;

    let gone = ctx.comment(&token, &slug, "Soon gone").await?.id;
    deleting(&ctx, &token, &slug, gone).expect(204).await?;
    not_found(deleting(&ctx, &token, &slug, gone), NO_COMMENT).await?;
    let next = ctx.comment(&token, &slug, "Next").await?.id;
    super::holds(&format!("the new id {next} is greater than {gone}"), next > gone)
}
