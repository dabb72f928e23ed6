//! Certificates of the secured broker and of its clients, made anew for each run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::run_quiet;
use crate::tools;

/// Of the key files that have one.
const PASSWORD: &str = "key-secret";

/// In the broker's folder: `ca.pem` signs the certificates of the broker, whose only name is `localhost`, and of the
/// client `carol`; `other-ca.pem` that of `mallory`. A client's are `name.pem` and `name.key`; carol's also
/// `carol-locked.key` and `carol.p12`, both with a password.
pub(super) fn folder(broker: &Path) -> PathBuf {
    broker.join("certificates")
}

/// Certificate and key of the broker in one file, as Java reads it.
pub(super) fn broker_store(broker: &Path) -> PathBuf {
    folder(broker).join("broker-store.pem")
}

pub(super) fn ca(broker: &Path) -> PathBuf {
    folder(broker).join("ca.pem")
}

/// Makes all of them.
///
/// # Errors
/// If OpenSSL is missing, or a file cannot be written.
pub(super) fn make(broker: &Path) -> Result<()> {
    let folder = folder(broker);
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove old certificates")?;
    }
    fs::create_dir_all(&folder).context("cannot make the folder of the certificates")?;
    let openssl = Openssl { program: tools::openssl()?, folder: folder.clone() };
    for ca in ["ca", "other-ca"] {
        openssl.certificate(ca, &["-addext", "keyUsage=critical,keyCertSign"])?;
    }
    let signed_by = |ca: &str| ["-CA".to_owned(), format!("{ca}.pem"), "-CAkey".to_owned(), format!("{ca}.key")];
    for (name, ca, usage) in
        [("broker", "ca", "serverAuth"), ("carol", "ca", "clientAuth"), ("mallory", "other-ca", "clientAuth")]
    {
        let mut options = signed_by(ca).to_vec();
        options.extend(["-addext".to_owned(), format!("extendedKeyUsage={usage}")]);
        if name == "broker" {
            options.extend(["-addext".to_owned(), "subjectAltName=DNS:localhost".to_owned()]);
        }
        openssl.certificate(name, &options.iter().map(String::as_str).collect::<Vec<_>>())?;
    }
    let password = format!("pass:{PASSWORD}");
    openssl.run(&["pkey", "-in", "carol.key", "-aes256", "-passout", &password, "-out", "carol-locked.key"])?;
    let store = ["-inkey", "carol.key", "-in", "carol.pem", "-passout", &password, "-out", "carol.p12"];
    openssl.run(&[&["pkcs12", "-export"][..], &store].concat())?;
    let parts = ["broker.key", "broker.pem"].map(|part| fs::read_to_string(folder.join(part)));
    fs::write(broker_store(broker), parts.into_iter().collect::<std::io::Result<String>>()?)?;
    Ok(())
}

struct Openssl {
    program: PathBuf,
    folder: PathBuf,
}

impl Openssl {
    /// A new key, and the certificate of a subject of this name: signed by itself unless the options name a CA.
    fn certificate(&self, name: &str, options: &[&str]) -> Result<()> {
        let (key, out, subject) = (format!("{name}.key"), format!("{name}.pem"), format!("/CN={name}"));
        let new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
        self.run(&[&new[..], &["-subj", &subject, "-keyout", &key, "-out", &out], options].concat())
    }

    fn run(&self, arguments: &[&str]) -> Result<()> {
        run_quiet(Command::new(&self.program).current_dir(&self.folder).args(arguments))
            .context("cannot make a certificate")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_certificate_is_its_cas_and_no_others() {
        let broker = tempfile::tempdir().unwrap();
        make(broker.path()).unwrap();
        let verify = |ca: &str, name: &str| {
            let mut openssl = Command::new(tools::openssl().unwrap());
            openssl.current_dir(folder(broker.path())).args(["verify", "-CAfile", ca, name]).output().unwrap()
        };
        for (ca, name, is_its) in [
            ("ca.pem", "carol.pem", true),
            ("ca.pem", "broker.pem", true),
            ("ca.pem", "mallory.pem", false),
            ("other-ca.pem", "mallory.pem", true),
        ] {
            assert_eq!(verify(ca, name).status.success(), is_its, "{name} by {ca}");
        }
    }
}
