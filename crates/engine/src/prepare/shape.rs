//! The columns that a table has and those that it should have.

/// What is known of the wanted columns.
pub enum Shape {
    /// All of them: names and types in order.
    Columns(Vec<(String, String)>),
    /// Names that must be among them.
    Names(Vec<String>),
}

/// How the columns found differ from those wanted; `None` if they do not.
pub fn differs(wanted: &Shape, found: &[(String, String)]) -> Option<String> {
    let same = match wanted {
        Shape::Columns(columns) => columns == found,
        Shape::Names(names) => {
            names.iter().all(|name| found.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)))
        }
    };
    let wanted = match wanted {
        Shape::Columns(columns) => list(columns),
        Shape::Names(names) => names.join(", "),
    };
    (!same).then(|| format!("wanted {wanted}; found {}", list(found)))
}

/// The longest list that is shown: a server may send names of many megabytes.
const LONGEST: usize = 2000;

fn list(columns: &[(String, String)]) -> String {
    let mut listed = String::new();
    for (name, kind) in columns {
        let comma = if listed.is_empty() { "" } else { ", " };
        for part in [comma, name, " ", kind] {
            listed.extend(part.chars().take(LONGEST - listed.len().min(LONGEST)));
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned())).collect()
    }

    #[test]
    fn other_names_types_or_numbers_of_columns_are_a_difference_that_names_both() {
        let wanted = Shape::Columns(columns(&[("id", "int(11)"), ("k", "int(11)")]));
        let differs = |found: &[(&str, &str)]| super::differs(&wanted, &columns(found));
        assert_eq!(differs(&[("id", "int(11)"), ("k", "int(11)")]), None);
        assert_eq!(
            differs(&[("id", "int(11)"), ("k", "char(3)")]).unwrap(),
            "wanted id int(11), k int(11); found id int(11), k char(3)"
        );
        assert!(differs(&[("id", "int(11)")]).is_some());
        assert!(differs(&[("k", "int(11)"), ("id", "int(11)")]).is_some());
    }

    #[test]
    fn where_only_names_are_known_more_columns_do_no_harm() {
        let wanted = Shape::Names(vec!["id".to_owned()]);
        assert_eq!(differs(&wanted, &columns(&[("k", "int"), ("ID", "int")])), None);
        assert!(differs(&wanted, &columns(&[("k", "int")])).is_some());
    }
}
