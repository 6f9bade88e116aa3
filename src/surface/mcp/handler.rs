//! What the library asks of a server, answered from the list of operations. Must never know an operation by name.

use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, DiscoverResult,
    ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestMethod,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use uuid::Uuid;

use crate::domain::session::Observed;
use crate::domain::text;
use crate::operation::Entry;
use crate::operations;
use crate::surface::mcp::calls::{Calls, Opening};
use crate::surface::mcp::observed::{is_offered_prompts, is_offered_resources, observe};
use crate::surface::mcp::resources::FIXED;
use crate::surface::mcp::subscriptions::legacy::Legacy;
use crate::surface::mcp::subscriptions::{self, Subscriptions, Wish, streams};
use crate::surface::mcp::transport::in_flight::Place;
use crate::surface::mcp::{Opener, prompts, resources, tools};

/// What an agent is told at once: when to hand over, how, and how to write safely.
pub const INSTRUCTIONS: &str = include_str!("instructions.txt");

/// The server of one connection or, over HTTP, of one message. Cheap to clone.
#[derive(Clone)]
pub struct Handler {
    calls: Arc<dyn Calls>,
    entries: &'static [Entry],
    tools: Arc<[Tool]>,
    legacy: Arc<Legacy>,
}

impl Handler {
    /// A server of all operations for the client that started this process.
    pub fn new(opener: Opener, environment: Vec<(String, String)>) -> Self {
        Self::with_entries(opener, environment, operations::all())
    }

    /// A server of these operations for the client that started this process.
    pub fn with_entries(opener: Opener, environment: Vec<(String, String)>, entries: &'static [Entry]) -> Self {
        Self::over(Arc::new(Opening::new(opener, environment)), entries)
    }

    /// A server of these operations, reached that way.
    pub fn over(calls: Arc<dyn Calls>, entries: &'static [Entry]) -> Self {
        let tools = tools::offered(entries).map(tools::tool).collect();
        Self { calls, entries, tools, legacy: Arc::default() }
    }

    /// All subscriptions of this connection or, over HTTP, of this server; refused where there can be none.
    pub fn subscriptions(&self) -> Result<&Arc<Subscriptions>, ErrorData> {
        self.calls.subscriptions().ok_or_else(method_not_found)
    }

    /// The way to the operations.
    pub(super) fn calls(&self) -> &Arc<dyn Calls> {
        &self.calls
    }

    fn way<'w>(&'w self, context: &'w RequestContext<RoleServer>) -> resources::Way<'w> {
        resources::Way { calls: self.calls.as_ref(), request: &context.extensions, entries: self.entries }
    }

    /// The subscriptions to these addresses, each of which must be readable, with the states that its client is taken
    /// to know.
    pub(super) async fn wishes(
        &self,
        uris: impl Iterator<Item = &String>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<Wish>, ErrorData> {
        let mut wishes = Vec::new();
        for uri in uris {
            let changes = resources::changing(&self.way(context), self.observed(context), uri).await?;
            wishes.push(Wish { uri: uri.clone(), task: changes.map(|task| (task, None)), answered: None });
        }
        let tasks: Vec<Uuid> = wishes.iter().filter_map(|wish| wish.task.map(|(task, _)| task)).collect();
        if !tasks.is_empty() {
            let states = self.subscriptions()?.states(tasks).await;
            let states = states.map_err(|refusal| subscriptions::error_of(&refusal))?;
            for (task, state) in wishes.iter_mut().filter_map(|wish| wish.task.as_mut()) {
                *state = states.get(task).copied();
            }
        }
        Ok(wishes)
    }

    fn observed(&self, context: &RequestContext<RoleServer>) -> Observed {
        let around = self.calls.surroundings(&context.extensions);
        // Where no handshake is kept, the library puts its own name in the place of one that this message does not say.
        let is_kept = around.environment.is_some();
        let named = if is_kept { context.client_info() } else { context.meta.client_info() };
        if let (None, Some(program)) = (&named, around.program) {
            return around.told.or(observe(Some(program), &context.meta, None));
        }
        let client = named.as_ref().map(|client| (client.name.as_str(), client.version.as_str()));
        observe(client, &context.meta, around.environment).or(around.told)
    }

    async fn run(
        &self,
        name: &str,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let entry = tools::offered(self.entries).find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| self.unknown_tool(name))?;
        let observed = self.observed(context);
        Ok(tools::result(self.calls.call(&context.extensions, entry, observed, arguments).await))
    }

    fn unknown_tool(&self, name: &str) -> ErrorData {
        let known: Vec<&str> = tools::offered(self.entries).map(|entry| entry.name).collect();
        let shown = text::quoted(name, 60);
        ErrorData::invalid_params(format!("Unknown tool {shown}. The tools are {}", known.join(", ")), None)
    }
}

/// All lists are one page, so a cursor is of another server or made up.
fn refuse_cursor(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor.as_deref()) {
        None | Some("") => Ok(()),
        Some(_) => Err(ErrorData::invalid_params("Unknown cursor: the list is one page", None)),
    }
}

/// True where the message's version knows no handshake.
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// The list as peers of each era know it: hints on how long it is good came with 2026-07-28.
macro_rules! fixed_list {
    ($list:ident, $items:expr, $context:expr) => {{
        let list = $list::with_all_items($items);
        if is_modern($context) { list.with_ttl_ms(FIXED).with_cache_scope(CacheScope::Public) } else { list }
    }};
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources();
        let capabilities = match self.subscriptions() {
            Ok(_) => capabilities.enable_resources_subscribe().build(),
            Err(_) => capabilities.build(),
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("heyaira", env!("CARGO_PKG_VERSION")).with_title("HeyAira"))
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.negotiate_initialize(&request)?;
        if !is_offered_resources(&request.client_info.name) {
            result.capabilities.resources = None;
        }
        if !is_offered_prompts(&request.client_info.name) {
            result.capabilities.prompts = None;
        }
        context.peer.set_peer_info(request);
        if !lasts(&context)
            && let Some(resources) = &mut result.capabilities.resources
        {
            resources.subscribe = None;
        }
        Ok(result)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = ProtocolVersion::KNOWN_VERSIONS.to_vec();
        let found = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(found.with_ttl_ms(FIXED).with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        refuse_cursor(request.as_ref())?;
        Ok(fixed_list!(ListToolsResult, self.tools.to_vec(), &context))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.map_or(Value::Null, Value::Object);
        self.run(&request.name, arguments, &context).await.map(CallToolResponse::from)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        refuse_cursor(request.as_ref())?;
        Ok(fixed_list!(ListPromptsResult, prompts::list(), &context))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request.name, request.arguments.as_ref()).map(GetPromptResponse::from)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        refuse_cursor(request.as_ref())?;
        Ok(fixed_list!(ListResourcesResult, resources::list(), &context))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        refuse_cursor(request.as_ref())?;
        Ok(fixed_list!(ListResourceTemplatesResult, resources::templates(), &context))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let observed = self.observed(&context);
        let mut found = resources::read(&self.way(&context), observed, &request.uri).await?;
        if !is_modern(&context) {
            (found.ttl_ms, found.cache_scope) = (None, None);
        }
        Ok(found.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Some(place) = context.extensions.get::<Place>().filter(|_| self.subscriptions().is_ok()) else {
            return Err(ErrorData::method_not_found::<SubscribeRequestMethod>());
        };
        for mut wish in self.wishes(std::iter::once(&request.uri), &context).await? {
            wish.answered = Some(place.answered());
            let added = self.legacy.add(self.subscriptions()?, &context.peer, wish);
            added.map_err(|refusal| subscriptions::error_of(&refusal))?;
        }
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !lasts(&context) || self.subscriptions().is_err() {
            return Err(ErrorData::method_not_found::<UnsubscribeRequestMethod>());
        }
        if self.legacy.remove(&request.uri).await {
            return Ok(());
        }
        let shown = text::quoted(&request.uri, 120);
        let message = format!("There is no subscription to {shown} here: name the address that was subscribed to");
        Err(ErrorData::invalid_params(message, None))
    }

    /// What never changes while the server runs, as its lists, the library leaves out: it was not advertised.
    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, stream: SubscriptionContext) -> Result<(), ErrorData> {
        streams::run(self, stream).await
    }

    /// A method that the library does not know, or one that it does with parameters of the wrong form.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method == "tools/call"
            && let Some(params) = &request.params
            && let Some(name) = params.get("name").and_then(Value::as_str)
        {
            // Arguments that are no object: the model that sent them is told, as for any other wrong argument.
            let arguments = unwrapped(params.get("arguments").cloned().unwrap_or_default());
            let mut result = self.run(name, arguments, &context).await?;
            if !is_modern(&context) {
                result.result_type = None;
            }
            let result = serde_json::to_value(result);
            return result.map(CustomResult).map_err(|_| ErrorData::internal_error("the answer cannot be sent", None));
        }
        let of_its_era = if is_modern(&context) { &KNOWN_MODERN[..] } else { &KNOWN_LEGACY };
        if KNOWN.iter().chain(of_its_era).any(|known| *known == request.method) {
            let message = format!("Invalid params: {} was sent with parameters of another form", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(method_not_found())
    }
}

fn method_not_found() -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Method not found", None)
}

/// True over a connection that lasts, on which a client with a handshake can be told something later.
fn lasts(context: &RequestContext<RoleServer>) -> bool {
    context.extensions.get::<Place>().is_some()
}

/// Arguments that were sent as JSON text.
fn unwrapped(arguments: Value) -> Value {
    let parsed = arguments.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    parsed.filter(Value::is_object).unwrap_or(arguments)
}

/// The methods that went with 2026-07-28.
const KNOWN_LEGACY: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];

/// The methods that came with it.
const KNOWN_MODERN: [&str; 2] = ["server/discover", "subscriptions/listen"];

/// The methods that are served in every era.
const KNOWN: [&str; 7] = [
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];
