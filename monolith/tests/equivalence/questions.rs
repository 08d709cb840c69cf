//! Everything that can be asked about a world, as far as it is small; else a random part of it.

use conduit_domain::{AccountId, ArticleFilter, NameKey, Page, Viewer};
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};

use crate::world::{NOBODY, TAGS, World};

#[derive(Debug)]
pub(crate) enum Question {
    Profile(Viewer, NameKey),
    Article(Viewer, String),
    Author(AccountId),
    List(Viewer, ArticleFilter, Page),
    Feed(AccountId, Page),
    ArticleId(String),
    Target(AccountId, String),
    Comments(Viewer, String, Page),
}

/// Of each kind at most so many.
const MOST: usize = 400;

const PAGES: [(i64, i64); 8] = [
    (20, 0),
    (100, 0),
    (1, 0),
    (1, 1),
    (3, 2),
    (2, 7),
    (20, 1000),
    (100, i64::MAX),
];

impl World {
    pub(crate) fn questions(&mut self) -> Vec<Question> {
        let kinds = [
            self.profiles(),
            self.articles(),
            self.lists(),
            self.feeds(),
            self.targets(),
            self.comments(),
        ];
        let mut all = Vec::new();
        for mut kind in kinds {
            kind.shuffle(&mut self.dice);
            kind.truncate(MOST);
            all.extend(kind);
        }
        all.shuffle(&mut self.dice);
        all
    }

    /// Everybody with an account, and somebody without.
    fn callers(&self) -> Vec<AccountId> {
        self.accounts
            .iter()
            .map(|account| account.id)
            .chain([NOBODY])
            .collect()
    }

    fn onlookers(&self) -> Vec<Viewer> {
        let callers = self.callers().into_iter().map(Viewer::SignedIn);
        callers.chain([Viewer::Anonymous]).collect()
    }

    fn viewers(&self) -> Vec<Viewer> {
        let acting = self.callers().into_iter().map(Viewer::Acting);
        self.onlookers().into_iter().chain(acting).collect()
    }

    /// Of everybody, as typed and in other letters, and of nobody; those that were changed too.
    fn names(&self) -> Vec<NameKey> {
        let names = self
            .accounts
            .iter()
            .map(|account| account.username.to_uppercase());
        let names = names
            .chain(self.former_names.iter().cloned())
            .chain(["unknown".to_owned()]);
        names.filter_map(|name| NameKey::of(&name)).collect()
    }

    fn slugs(&self) -> Vec<String> {
        let slugs = self.articles.iter().map(|article| article.slug.clone());
        slugs
            .chain(self.former_slugs.iter().cloned())
            .chain(["unknown".to_owned()])
            .collect()
    }

    fn page(&mut self) -> Page {
        let (limit, offset) = *PAGES.choose(&mut self.dice).unwrap();
        Page { limit, offset }
    }

    fn profiles(&self) -> Vec<Question> {
        let names = self.names();
        let viewers = self.viewers().into_iter();
        viewers
            .flat_map(|viewer| {
                names
                    .iter()
                    .map(move |name| Question::Profile(viewer, name.clone()))
            })
            .collect()
    }

    fn articles(&self) -> Vec<Question> {
        let slugs = self.slugs();
        let viewers = self.viewers().into_iter();
        viewers
            .flat_map(|viewer| {
                slugs
                    .iter()
                    .map(move |slug| Question::Article(viewer, slug.clone()))
            })
            .collect()
    }

    /// Each filter for a few viewers and pages.
    fn lists(&mut self) -> Vec<Question> {
        let mut tags: Vec<_> = TAGS.iter().map(|&tag| Some(tag.to_owned())).collect();
        tags.extend([None, Some("unknown".to_owned())]);
        let names: Vec<_> = self.names().into_iter().map(Some).chain([None]).collect();
        let viewers = self.onlookers();
        let mut questions = Vec::new();
        for tag in &tags {
            for author in &names {
                for favorited in &names {
                    let filter = ArticleFilter {
                        tag: tag.clone(),
                        author: author.clone(),
                        favorited: favorited.clone(),
                    };
                    let viewer = *viewers.choose(&mut self.dice).unwrap();
                    questions.push(Question::List(viewer, filter, self.page()));
                }
            }
        }
        // What is asked most often, for everybody.
        for tag in tags {
            for &viewer in &viewers {
                let filter = ArticleFilter {
                    tag: tag.clone(),
                    ..ArticleFilter::default()
                };
                questions.push(Question::List(viewer, filter, self.page()));
            }
        }
        questions
    }

    fn feeds(&self) -> Vec<Question> {
        let callers = self.callers().into_iter();
        let pages = PAGES.map(|(limit, offset)| Page { limit, offset });
        callers
            .flat_map(|caller| pages.map(|page| Question::Feed(caller, page)))
            .collect()
    }

    fn targets(&self) -> Vec<Question> {
        let slugs = self.slugs();
        let mut questions: Vec<_> = slugs.iter().cloned().map(Question::ArticleId).collect();
        for caller in self.callers() {
            questions.push(Question::Author(caller));
            questions.extend(slugs.iter().map(|slug| Question::Target(caller, slug.clone())));
        }
        questions
    }

    fn comments(&mut self) -> Vec<Question> {
        let mut questions = Vec::new();
        for slug in self.slugs() {
            for viewer in self.onlookers() {
                let whole = self.dice.random_bool(0.5);
                let page = if whole {
                    Page {
                        limit: 1000,
                        offset: 0,
                    }
                } else {
                    self.page()
                };
                questions.push(Question::Comments(viewer, slug.clone(), page));
            }
        }
        questions
    }
}
