//! A server of one tool on the official Rust SDK.

use rmcp::handler::server::{router::tool::ToolRouter, wrapper::Parameters};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router, transport};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    Name,
    Size,
}

#[derive(Deserialize, JsonSchema)]
struct Folder {
    path: String,
    order: Option<Order>,
}

struct Files {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Files {
    #[tool(description = "Lists the files of a folder.")]
    async fn list_files(&self, Parameters(folder): Parameters<Folder>) -> Result<String, String> {
        let entries = std::fs::read_dir(&folder.path).map_err(|error| format!("{}: {error}", folder.path))?;
        let mut files: Vec<_> = entries
            .flatten()
            .map(|entry| (entry.file_name(), entry.metadata().map_or(0, |metadata| metadata.len())))
            .collect();
        match folder.order.unwrap_or(Order::Name) {
            Order::Name => files.sort(),
            Order::Size => files.sort_by_key(|(_, size)| *size),
        }
        Ok(format!("{files:?}"))
    }
}

#[tool_handler(router = self.tool_router, name = "files", version = "1.0.0")]
impl ServerHandler for Files {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Files { tool_router: Files::tool_router() }.serve(transport::stdio()).await?.waiting().await?;
    Ok(())
}
