//! What there is to ask about, and how to ask it on every route of the table.

use conformance::arrange::{Account, article_path, profile_path};
use conformance::ctx::{Ctx, Run};
use conformance::http::{Request, Response};
use conformance::log::Certainty;
use conformance::session::Session;
use serde_json::{Value, json};

/// More articles and comments than the tests delete.
const DOOMED: usize = 10;

/// Bob, who asks, follows Ann, who wrote an article that Carl likes.
pub(crate) struct World {
    ctx: Ctx,
    // The rules for every answer allow no 5xx, so what may be refused is not asked through the context.
    session: Session,
    ann: Account,
    bob: Account,
    carl: Account,
    article: String,
    own: String,
    doomed: Vec<String>,
    remarks: Vec<u64>,
}

impl World {
    pub(crate) async fn make(run: &Run) -> Self {
        let ctx = Ctx::new(run, "calls");
        let [ann, bob, carl] = [(); 3].map(|()| ctx.register());
        let (ann, bob, carl) = (ann.await.unwrap(), bob.await.unwrap(), carl.await.unwrap());
        let article = ctx.publish(&ann, &["t"]).await.unwrap().slug;
        let own = ctx.publish(&bob, &[]).await.unwrap().slug;
        ctx.follow(&bob.token, &ann.username).await.unwrap();
        ctx.favorite(&carl.token, &article).await.unwrap();
        ctx.comment(&ann.token, &article, "stays").await.unwrap();
        let (mut doomed, mut remarks) = (Vec::new(), Vec::new());
        for _ in 0..DOOMED {
            doomed.push(ctx.publish(&bob, &[]).await.unwrap().slug);
            remarks.push(ctx.comment(&bob.token, &article, "goes").await.unwrap().id);
        }
        Self {
            ctx,
            session: Session::new(run.target.clone(), run.patience),
            ann,
            bob,
            carl,
            article,
            own,
            doomed,
            remarks,
        }
    }

    /// The same, asked of another deployment on the same database.
    pub(crate) fn at(self, run: &Run) -> Self {
        Self {
            session: Session::new(run.target.clone(), run.patience),
            ..self
        }
    }

    /// What to ask as nobody (`who` 0) or as Bob (1).
    pub(crate) fn request(&mut self, route: &str, who: usize) -> Request {
        let (method, path) = route.split_once(' ').unwrap();
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut headers = vec![header("Content-Type", "application/json")];
        if who == 1 {
            headers.push(header("Authorization", &format!("Token {}", self.bob.token)));
        }
        Request {
            method: method.to_owned(),
            target: self.path(route, path, who),
            headers,
            body: self.body(route).map(|body| body.to_string().into_bytes()),
        }
    }

    pub(crate) async fn ask(&self, request: Request) -> Response {
        let exchange = self.session.exchange(request, Certainty::Certain).await;
        exchange.outcome.unwrap_or_else(|trouble| panic!("{trouble}"))
    }

    /// All at the same time, each on a connection of its own.
    pub(crate) async fn ask_at_once(&self, requests: Vec<Request>) -> Vec<Response> {
        let exchanges = self.session.together(requests, Certainty::Certain).await;
        let answers = exchanges.into_iter().map(|exchange| exchange.outcome);
        answers
            .map(|answer| answer.unwrap_or_else(|trouble| panic!("{trouble}")))
            .collect()
    }

    fn path(&mut self, route: &str, path: &str, who: usize) -> String {
        let slug = match route {
            // Nobody deletes nothing.
            "DELETE /api/articles/{slug}" if who == 1 => self.doomed.pop().expect("no article left"),
            "PUT /api/articles/{slug}" | "DELETE /api/articles/{slug}" => self.own.clone(),
            _ => self.article.clone(),
        };
        let id = match route {
            "DELETE /api/articles/{slug}/comments/{id}" if who == 1 => {
                self.remarks.pop().expect("no comment left")
            }
            _ => 1,
        };
        let username = match route {
            "POST /api/profiles/{username}/follow"
            | "DELETE /api/profiles/{username}/follow"
            | "GET /api/articles?favorited={username}" => &self.carl.username,
            _ => &self.ann.username,
        };
        path.replace("/api/articles/{slug}", &article_path(&slug))
            .replace("{id}", &id.to_string())
            .replace("/api/profiles/{username}", &profile_path(username))
            .replace("{username}", username)
    }

    fn body(&self, route: &str) -> Option<Value> {
        let x = self.ctx.x();
        let body = match route {
            "POST /api/users" => {
                json!({"user": {"username": x, "email": format!("{x}@example.com"), "password": "long enough"}})
            }
            "POST /api/users/login" => {
                json!({"user": {"email": self.bob.email, "password": self.bob.password}})
            }
            "PUT /api/user" => json!({"user": {"bio": x}}),
            "POST /api/articles" => json!({"article": {"title": x, "description": "d", "body": "b"}}),
            "PUT /api/articles/{slug}" => json!({"article": {"description": x}}),
            "POST /api/articles/{slug}/comments" => json!({"comment": {"body": x}}),
            _ => return None,
        };
        Some(body)
    }
}
