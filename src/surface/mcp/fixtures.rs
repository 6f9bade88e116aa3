//! What the conformance suite of MCP calls, put around the product's own handler: in each list ours come first, and
//! whatever is not named here, ours answers. Must never be in a program that is shipped, and must never answer for the
//! product what the suite asks of every server.

mod changes;
mod input;
mod jobs;
mod prompts;
mod resources;
mod skills;
mod tools;

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskResult, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, SKILLS_EXTENSION_ID, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, TASKS_EXTENSION_ID, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use crate::operation::Entry;
use crate::surface::mcp::calls::Calls;
use crate::surface::mcp::handler::Handler;

/// Our handler with the fixtures around it. Cheap to clone.
#[derive(Clone)]
pub struct Fixtures {
    product: Handler,
    ear: changes::Ear,
}

impl Fixtures {
    /// A server of these operations, reached that way, and of the fixtures.
    pub fn over(calls: Arc<dyn Calls>, entries: &'static [Entry]) -> Self {
        Self { product: Handler::over(calls, entries), ear: changes::Ear::default() }
    }
}

/// What the fixtures can do beyond what the product can.
fn widened(mut capabilities: ServerCapabilities) -> ServerCapabilities {
    capabilities.completions.get_or_insert_default();
    capabilities.logging.get_or_insert_default();
    capabilities.tools.get_or_insert_default().list_changed = Some(true);
    capabilities.prompts.get_or_insert_default().list_changed = Some(true);
    capabilities.resources.get_or_insert_default().subscribe = Some(true);
    let extensions = capabilities.extensions.get_or_insert_default();
    extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
    extensions.insert(SKILLS_EXTENSION_ID.to_owned(), JsonObject::new());
    capabilities
}

/// An object written as JSON.
fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// The refusal of a call that needs a client with this capability, written as JSON.
fn missing(capability: Value) -> ErrorData {
    ErrorData::missing_required_client_capability(serde_json::from_value(capability).unwrap_or_default())
}

/// What the client declared that it can do.
fn client(context: &RequestContext<RoleServer>) -> ClientCapabilities {
    context.client_capabilities().unwrap_or_default()
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.product.get_info();
        info.capabilities = widened(info.capabilities);
        info
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut found = self.product.discover(context).await?;
        found.capabilities = widened(found.capabilities);
        Ok(found)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.product.list_tools(request, context).await?;
        list.tools.extend(tools::list());
        list.tools.extend(input::list());
        list.tools.extend(jobs::list());
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::list().into_iter().find(|tool| tool.name == name).or_else(|| self.product.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(answer) = tools::call(&request, &context).await {
            return answer;
        }
        if let Some(answer) = input::call(&request, &context) {
            return answer;
        }
        if let Some(answer) = jobs::call(&request, &context) {
            return answer;
        }
        self.product.call_tool(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = self.product.list_prompts(request, context).await?;
        list.prompts.extend(prompts::list());
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match prompts::get(&request) {
            Some(answer) => answer,
            None => self.product.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        match prompts::complete(&request) {
            Some(answer) => answer,
            None => self.product.complete(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = self.product.list_resources(request, context).await?;
        list.resources.extend(resources::list());
        list.resources.push(skills::resource());
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.product.list_resource_templates(request, context).await?;
        list.resource_templates.push(resources::template());
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match resources::read(&request.uri).or_else(|| skills::read(&request.uri)) {
            Some(contents) => Ok(contents.into()),
            None => self.product.read_resource(request, context).await,
        }
    }

    #[expect(deprecated, reason = "the suite of 2025-11-25 sets the level")]
    async fn set_level(
        &self,
        _: rmcp::model::SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // Without sessions there is nothing to keep it in; the tool that logs does so at a level that is never left out.
        Ok(())
    }

    #[expect(deprecated, reason = "the suite of 2025-11-25 subscribes this way")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if request.uri == resources::WATCHED { Ok(()) } else { self.product.subscribe(request, context).await }
    }

    #[expect(deprecated, reason = "the suite of 2025-11-25 subscribes this way")]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if request.uri == resources::WATCHED { Ok(()) } else { self.product.unsubscribe(request, context).await }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.ear.open();
        Some(changes::accepted(requested, self.product.accepted_subscription_filter(requested)))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let (sink, wanted) = (context.sink().clone(), context.accepted().clone());
        // The product's own streams know when to end.
        tokio::select! {
            ended = self.product.listen(context) => ended,
            () = changes::pass_on(&self.ear, &sink, &wanted) => Ok(()),
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        jobs::MANAGER.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(&self, request: UpdateTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        jobs::MANAGER.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        jobs::MANAGER.cancel_task(&request.task_id)
    }

    async fn list_skills(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        Ok(ListSkillsResult::with_all_items(vec![skills::skill()]))
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        skills::get(&request.uri)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.product.on_custom_request(request, context).await
    }
}
