//! `subscriptions/listen`, the streams of 2026-07-28. Must never tell of a change before the stream was acknowledged,
//! and never acknowledge what is refused where that can be known.
//!
//! The library acknowledges a stream before it asks the handler anything that may wait. [`Preparing`] looks at the
//! request before that. Over a transport that takes no [`Preparing`], the stream is prepared after it was acknowledged:
//! a refusal then ends it, and one notification at its beginning stands for what may have changed in between.

use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorCode, ErrorData, ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service, SubscriptionContext};

use crate::surface::mcp::handler::{Handler, is_modern};
use crate::surface::mcp::subscriptions::{ADDRESSES, Subscriber, check, error_of};
use crate::surface::mcp::transport::in_flight::Place;

/// A handler whose streams are prepared before the library acknowledges them.
pub struct Preparing(pub Handler);

impl Service<RoleServer> for Preparing {
    async fn handle_request(
        &self,
        request: ClientRequest,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        if let ClientRequest::SubscriptionsListenRequest(listen) = &request
            && is_modern(&context)
        {
            let uris = listen.params.notifications.resource_subscriptions.as_deref().unwrap_or_default();
            let prepared = prepare(&self.0, uris, &context).await.map_err(|mut error| {
                // As the library does for what comes out of a handler in this era.
                if error.code == ErrorCode::RESOURCE_NOT_FOUND {
                    error.code = ErrorCode::INVALID_PARAMS;
                }
                error
            })?;
            context.extensions.insert(Prepared(Arc::new(prepared)));
        }
        self.0.handle_request(request, context).await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}

/// A stream that is subscribed and not yet acknowledged.
#[derive(Clone)]
struct Prepared(Arc<Subscriber>);

/// Subscribes a new stream to what it asks for, or refuses all of it as reading it would be refused.
async fn prepare(
    handler: &Handler,
    uris: &[String],
    context: &RequestContext<RoleServer>,
) -> Result<Subscriber, ErrorData> {
    let all = handler.subscriptions()?;
    let uris: BTreeSet<&String> = uris.iter().collect();
    check(uris.len(), ADDRESSES, "stream").map_err(|refusal| error_of(&refusal))?;
    let wishes = handler.wishes(uris.into_iter(), context).await?;
    let subscriber = all.subscriber();
    subscriber.add(wishes).map_err(|refusal| error_of(&refusal))?;
    Ok(subscriber)
}

/// Runs an acknowledged stream until it is cancelled, its client is gone, or the subscriptions are ended.
pub async fn run(handler: &Handler, stream: SubscriptionContext) -> Result<(), ErrorData> {
    let request = stream.request_context();
    let subscriber = if let Some(Prepared(subscriber)) = request.extensions.get() {
        Arc::clone(subscriber)
    } else {
        let uris = stream.accepted().resource_subscriptions.as_deref().unwrap_or_default();
        let subscriber = prepare(handler, uris, request).await?;
        subscriber.doubt();
        Arc::new(subscriber)
    };
    // It is counted among the subscriptions now, and may last as long as the connection.
    if let Some(place) = request.extensions.get::<Place>() {
        place.give_back();
    }
    loop {
        let due = tokio::select! {
            () = stream.cancelled() => return Ok(()),
            due = subscriber.next() => due,
        };
        let Some(due) = due else { return Ok(()) };
        tokio::select! {
            () = stream.cancelled() => return Ok(()),
            sent = stream.sink().notify_resource_updated(due.uri) => {
                if sent.is_err() {
                    return Ok(());
                }
            }
        }
    }
}
