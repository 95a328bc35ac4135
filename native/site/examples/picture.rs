//! Writes the pictures of the site as files: `picture FOLDER`.

fn main() -> std::io::Result<()> {
    let folder = std::path::PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    for n in 0..site::image::IMAGES {
        std::fs::write(folder.join(format!("{}.gif", n + 1)), site::image::image(n))?;
    }
    Ok(())
}
