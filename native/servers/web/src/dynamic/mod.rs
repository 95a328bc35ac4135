//! Answers that are generated for each request.

mod clock;
mod page;
mod text;

pub(crate) use page::{PARSED_PAGE, TEMPLATES, Templates, expand};
pub(crate) use text::Text;
