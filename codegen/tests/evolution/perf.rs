use crate::states::*;
use std::time::Instant;
#[test]
fn branches() {
    for n in [30, 100, 200] {
        let s = |more: &str| {
            let b: Vec<String> = (0..n).map(|i| format!(r#"{{"required":["kind"],"properties":{{"kind":{{"const":"k{i}"}},"v{i}":{{"type":"string"{}}}}}}}"#, if i==n-1 {more} else {""})).collect();
            format!(r#"{{"type":"object","oneOf":[{}]}}"#, b.join(","))
        };
        for (a, b) in [
            (s(""), s(r#","maxLength":3"#)),
            (s("").replace("oneOf", "anyOf"), s(r#","maxLength":3"#).replace("oneOf", "anyOf")),
        ] {
            let t = Instant::now();
            let st = States::of_schemas(&a, &b);
            let f = st.backward();
            println!("{n} {:?} {}", t.elapsed(), f.len());
        }
    }
}
#[test]
fn many() {
    let reg: Vec<String> = (0..300).map(|i| format!(r#"{{"urn":"urn:babel:t:x{i}","schema":"x{i}.json"}}"#)).collect();
    let reg = format!(r#"{{"schemas":[{}]}}"#, reg.join(","));
    let file = |i: usize, more: &str| {
        let p: Vec<String> =
            (0..20).map(|k| format!(r#""p{k}":{{"type":"string"{}}}"#, if k == i % 20 { more } else { "" })).collect();
        format!(r#"{{"type":"object","properties":{{"r":{{"$ref":"x{}.json"}},{}}}}}"#, (i + 1) % 300, p.join(","))
    };
    for more in ["", r#","title":"t""#, r#","maxLength":3"#] {
        let files = |m: &str| {
            let mut v = vec![("registry.json".to_owned(), reg.clone())];
            for i in 0..300 {
                v.push((format!("x{i}.json"), file(i, m)));
            }
            v
        };
        let st = States::new(&files(""), &files(more));
        let t = Instant::now();
        let f = st.backward();
        println!("many {more} {:?} {}", t.elapsed(), f.len());
    }
}
