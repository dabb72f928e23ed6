use babelqueue::babel_job;

#[babel_job("urn:babel:orders:created")]
fn on_created() {}

#[babel_job("urn:babel:orders:created")]
trait Created {}

#[babel_job("urn:babel:orders:created")]
union Bits {
    whole: u32,
    parts: [u8; 4],
}

#[babel_job("urn:babel:orders:created")]
type Alias = u32;

struct Plain;

#[babel_job("urn:babel:orders:created")]
impl Plain {}

fn main() {}
