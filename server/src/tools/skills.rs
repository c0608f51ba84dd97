//! The skill tool.

use super::Domains;
use super::cx::Cx;
use crate::catalogue::{SkillListError, SkillListInput, SkillListOutput, SkillsTools};
use crate::domains::skills::{SkillFilter, list_skills};
use colibri_runtime::handler::Outcome;

impl SkillsTools<Cx> for Domains {
    fn skill_list(&mut self, cx: &mut Cx, input: SkillListInput) -> Outcome<SkillListOutput, SkillListError> {
        let filter = SkillFilter { search: input.search, capability: input.capability };
        let skills = list_skills(cx.db()?, &cx.parts.skills_root, &filter)?;
        Ok(SkillListOutput { total_count: i64::try_from(skills.len()).unwrap_or(i64::MAX), skills })
    }
}
