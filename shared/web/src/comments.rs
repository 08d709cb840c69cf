//! Comments on articles (contract 2.14 to 2.16).

use conduit_app::Comments;
use conduit_domain::{Comment, Result, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::Call;
use crate::view::{ProfileView, View, moment};

pub(crate) async fn list(comments: &Comments, call: Call<'_>) -> Result<Answer> {
    let list = comments.list(call.viewer(), &call.slug()?, call.page()?).await?;
    Answer::ok(&CommentList::from(list.as_slice()))
}

pub(crate) async fn add(comments: &Comments, mut call: Call<'_>) -> Result<Answer> {
    let comment = comments.add(call.caller()?, &call.slug()?, call.body()?).await?;
    Answer::created(&OneComment {
        comment: (&comment).into(),
    })
}

pub(crate) async fn delete(comments: &Comments, call: Call<'_>) -> Result<Answer> {
    comments
        .delete(call.caller()?, &call.slug()?, &call.comment_id())
        .await?;
    Ok(Answer::no_content())
}

/// A comment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Comment)]
struct CommentView<'a> {
    #[schema(minimum = 1)]
    id: i64,
    #[serde(serialize_with = "moment")]
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[serde(serialize_with = "moment")]
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    body: &'a str,
    author: ProfileView<'a>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = CommentResponse)]
pub(crate) struct OneComment<'a> {
    comment: CommentView<'a>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = CommentListResponse)]
pub(crate) struct CommentList<'a> {
    comments: Vec<CommentView<'a>>,
}

impl<'a> From<&'a Comment> for CommentView<'a> {
    fn from(comment: &'a Comment) -> Self {
        Self {
            id: comment.id.0,
            created_at: comment.created_at,
            // There is no editing (contract 3.10).
            updated_at: comment.created_at,
            body: &comment.body,
            author: (&comment.author).into(),
        }
    }
}

impl<'a> From<&'a [Comment]> for CommentList<'a> {
    fn from(comments: &'a [Comment]) -> Self {
        Self {
            comments: comments.iter().map(CommentView::from).collect(),
        }
    }
}

impl View for CommentView<'_> {
    fn roughly(&self) -> usize {
        140 + self.body.len() + self.body.len() / 16 + self.author.roughly()
    }
}

impl View for OneComment<'_> {
    fn roughly(&self) -> usize {
        20 + self.comment.roughly()
    }
}

impl View for CommentList<'_> {
    fn roughly(&self) -> usize {
        20 + self.comments.iter().map(CommentView::roughly).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use conduit_domain::{AccountId, CommentId, Profile};

    use super::*;

    #[test]
    fn a_comment_has_its_members_in_order() {
        let author = Profile {
            id: AccountId(1),
            username: "ada".to_owned(),
            bio: None,
            image: None,
            following: true,
        };
        let created_at = Timestamp::from_millis(1_786_613_400_125);
        let comment = Comment {
            id: CommentId(7),
            created_at,
            body: "  a\n🦀 ".to_owned(),
            author,
        };
        let shown = r#"{"id":7,"createdAt":"2026-08-13T09:30:00.125Z","updatedAt":"2026-08-13T09:30:00.125Z","body":"  a\n🦀 ","author":{"username":"ada","bio":null,"image":null,"following":true}}"#;
        let one = OneComment {
            comment: (&comment).into(),
        };
        assert_eq!(
            serde_json::to_string(&one).unwrap(),
            format!(r#"{{"comment":{shown}}}"#)
        );
        let list = CommentList::from(std::slice::from_ref(&comment));
        assert_eq!(
            serde_json::to_string(&list).unwrap(),
            format!(r#"{{"comments":[{shown}]}}"#)
        );
        let none = CommentList::from([].as_slice());
        assert_eq!(serde_json::to_string(&none).unwrap(), r#"{"comments":[]}"#);
    }
}
