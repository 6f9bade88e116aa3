//! What decides the way to the tasks of a list: how large a share of a project its words and its tag leave. Must never
//! change what is found, only how.

use crate::domain::words::Query;
use crate::error::Result;
use crate::store::backend::Transaction;
use crate::store::list::{Filter, TOTAL_EXACT};
use crate::store::search::Search;

/// How many matches tell how frequent words are.
const SAMPLE: i64 = 300;
/// How far apart matches may be for a walk to meet a page of them in time.
const FAR: i64 = 50;

/// Which share of a project's tasks a filter leaves, as far as the way to find them depends on it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Share {
    /// It asks for nothing.
    All,
    /// So many that the next ones are soon met in the order of the answer.
    Many,
    /// So few that they are gathered and sorted.
    Few,
}

/// Words that are searched for.
pub(super) struct Words {
    pub(super) search: Search,
    /// One task in so many has them, if they are frequent.
    pub(super) one_in: Option<i64>,
}

/// The filters that no index has in the order of an answer.
#[derive(Default)]
pub(super) struct Ways {
    pub(super) words: Option<Words>,
    /// How many tasks have the tag, counted no further than `TOTAL_EXACT` + 1.
    pub(super) tagged: Option<i64>,
}

impl Ways {
    /// `None` if a query holds no word: then nothing matches.
    pub(super) async fn of(transaction: &mut Transaction, project_id: i64, filter: &Filter) -> Result<Option<Self>> {
        let mut ways = Self::default();
        if let Some(query) = &filter.query {
            let Some(query) = Query::of(query) else { return Ok(None) };
            let search = Search::of(transaction, project_id, query).await?;
            let one_in = search.spread(transaction, SAMPLE, FAR).await?;
            ways.words = Some(Words { search, one_in });
        }
        if let Some(tag) = &filter.tag {
            ways.tagged = Some(tagged(transaction, project_id, tag).await?);
        }
        Ok(Some(ways))
    }

    /// The share that the words leave.
    pub(super) fn words(&self) -> Share {
        match &self.words {
            None => Share::All,
            Some(Words { one_in: Some(_), .. }) => Share::Many,
            Some(_) => Share::Few,
        }
    }

    /// The share that the tag leaves.
    pub(super) fn tag(&self) -> Share {
        match self.tagged {
            None => Share::All,
            Some(count) if count > TOTAL_EXACT => Share::Many,
            Some(_) => Share::Few,
        }
    }
}

/// How many tasks have a tag, counted no further than `TOTAL_EXACT` + 1.
async fn tagged(transaction: &mut Transaction, project_id: i64, tag: &str) -> Result<i64> {
    let sql = "select count(*) from (select 1 from task_tag where project_id = ?1 and tag = ?2 limit ?3) found";
    transaction.integer(sql, &[project_id.into(), tag.into(), (TOTAL_EXACT + 1).into()]).await
}
