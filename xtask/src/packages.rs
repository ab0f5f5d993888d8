//! Checks that the published crates can be published: their manifests, and their files.

use std::fs;

use crate::run::{execute, root};

/// The published crates, each after those that it depends on, and their folders.
const PUBLISHED: [(&str, &str); 6] = [
    ("monoscan-ir", "ir"),
    ("monoscan-codegen", "codegen"),
    ("monoscan-protocol", "runtime/protocol"),
    ("monoscan-runtime", "runtime"),
    ("monoscan-macros", "macros"),
    ("monoscan", "."),
];

/// The metadata of a crate that registries and docs.rs show.
const FIELDS: [&str; 7] = ["description", "documentation", "license", "readme", "keywords", "categories", "include"];

/// Whether the files of a package are built by themselves, which takes some five minutes of a core.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    Yes,
    No,
}

/// Packages the published crates.
pub(crate) fn package(build: Build) -> Result<(), String> {
    let names: Vec<String> = PUBLISHED.iter().map(|(name, _)| format!("--package {name}")).collect();
    let verify = if build == Build::No { "--no-verify " } else { "" };
    execute(&format!("cargo package --allow-dirty {verify}{}", names.join(" ")), &[])
}

/// Published crates say what registries show, and all others are kept from being published.
pub(crate) fn manifests() -> Result<(), String> {
    let workspace = manifest(".")?;
    let members = workspace.get("workspace").and_then(|workspace| workspace.get("members")?.as_array());
    for folder in members.into_iter().flatten().filter_map(|member| member.as_str()) {
        let manifest = manifest(folder)?;
        let package = manifest.get("package").ok_or(format!("{folder}: no package"))?;
        let is_published = PUBLISHED.iter().any(|(_, known)| *known == folder);
        if is_published != (package.get("publish").is_none()) {
            return Err(format!("{folder}: either it is one of xtask's PUBLISHED, or it has `publish = false`"));
        }
        if let Some(missing) = FIELDS.iter().find(|field| is_published && package.get(*field).is_none()) {
            return Err(format!("{folder}: the manifest has no `{missing}`"));
        }
    }
    Ok(())
}

fn manifest(folder: &str) -> Result<toml::Table, String> {
    let path = root().join(folder).join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.parse().map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_crate_is_published_with_its_metadata_or_not_at_all() {
        super::manifests().unwrap();
    }
}
