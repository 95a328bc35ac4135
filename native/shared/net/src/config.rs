//! The declaration of a server's configuration.

/// Declares a server's configuration: the fields of every server, and the server's own. A line has a field's name,
/// type and default. Missing keys have their defaults.
#[macro_export]
macro_rules! config {
    (
        $(#[$config_doc:meta])* pub struct $Config:ident {
            $($(#[$doc:meta])* $name:ident: $type:ty = $default:expr;)*
        }
    ) => {
        $(#[$config_doc])*
        #[derive(Debug, Clone, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $Config {
            /// The address to listen on.
            pub host: String,
            /// The port; with 0 the system chooses.
            pub port: u16,
            /// Threads that serve clients, each with its own listener.
            pub threads: usize,
            $($(#[$doc])* pub $name: $type,)*
        }

        impl $Config {
            /// Reads the certificate, if any, and opens the port. With `upgrades`, connections begin without TLS.
            pub(crate) fn listen(
                &self,
                certificate: Option<&::tls::ServerSpec>,
                upgrades: bool,
                alpn: &[&[u8]],
            ) -> Result<($crate::Server, Vec<$crate::Reactor>), $crate::ListenError> {
                let limits = self.limits.socket()?;
                let acceptor = certificate.map(|spec| ::tls::Acceptor::new(spec, alpn)).transpose()?;
                $crate::Server::listen(&self.host, self.port, self.threads, limits, acceptor, upgrades)
            }
        }

        impl Default for $Config {
            fn default() -> Self {
                Self {
                    host: "127.0.0.1".into(),
                    port: 0,
                    threads: 1,
                    $($name: $default,)*
                }
            }
        }
    };
}
