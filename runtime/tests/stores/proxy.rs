//! A way to a server that can fall silent, as a network does: connections stay open and carry nothing any more.

use std::sync::Arc;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

pub(crate) struct Proxy {
    pub(crate) address: String,
    silent: Arc<watch::Sender<bool>>,
}

impl Proxy {
    pub(crate) async fn start(server: &str) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let silent = Arc::new(watch::Sender::new(false));
        tokio::spawn(accept(listener, server.to_owned(), Arc::clone(&silent)));
        Ok(Self { address, silent })
    }

    /// What is open stays open and is dead from now on, and so is what is opened until `speak`.
    pub(crate) fn fall_silent(&self) {
        self.silent.send_replace(true);
    }

    /// New connections are served again.
    pub(crate) fn speak(&self) {
        self.silent.send_replace(false);
    }
}

async fn accept(listener: TcpListener, server: String, silent: Arc<watch::Sender<bool>>) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(forward(client, server.clone(), silent.subscribe()));
    }
}

async fn forward(mut client: TcpStream, server: String, mut silent: watch::Receiver<bool>) {
    let Ok(mut server) = TcpStream::connect(server).await else { return };
    tokio::select! {
        biased;
        () = async { drop(silent.wait_for(|silent| *silent).await) } => {}
        _ = copy_bidirectional(&mut client, &mut server) => return,
    }
    std::future::pending::<()>().await;
}
