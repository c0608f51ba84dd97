//! Representative schema tables, written twice: as the generator would write them, and as JSON Schema.

use colibri_runtime::schema::*;

/// A table and the schema it stands for.
pub struct Pair {
    pub name: &'static str,
    pub table: &'static Schema,
    pub text: &'static str,
}

const fn node(shape: Shape) -> Schema {
    Schema { shape, nullable: false, message: None }
}

const fn nullable(shape: Shape) -> Schema {
    Schema { shape, nullable: true, message: None }
}

const fn text(min: Option<u32>, max: Option<u32>) -> Shape {
    Shape::String(StringRule { min, max, pattern: None })
}

const fn integer(min: Option<i64>, max: Option<i64>) -> Shape {
    Shape::Integer(IntegerRule { min, max, multiple_of: None })
}

const fn required(name: &'static str, schema: Schema) -> Property {
    Property { name, schema, required: true, default: None }
}

const fn optional(name: &'static str, schema: Schema) -> Property {
    Property { name, schema, required: false, default: None }
}

const fn defaulted(name: &'static str, schema: Schema, default: &'static str) -> Property {
    Property { name, schema, required: false, default: Some(default) }
}

const fn bound(value: f64, inclusive: bool) -> Option<Bound> {
    Some(Bound { value, inclusive })
}

static SHORT_WORD: Pattern = Pattern::new("^[a-z]{2,4}$");
static NON_BLANK: Pattern = Pattern::new("\\S");

const WORD: StringRule = StringRule { min: None, max: None, pattern: Some(&SHORT_WORD) };

static EMPTY: Schema = node(Shape::Object(&ObjectRule { properties: &[], additional: Additional::Closed }));

static PROMPT: Schema = node(Shape::Object(&ObjectRule {
    properties: &[required("prompt", node(text(Some(1), None)))],
    additional: Additional::Closed,
}));

static TEXTS: Schema = node(Shape::Object(&ObjectRule {
    properties: &[
        required(
            "title",
            node(Shape::String(StringRule { min: Some(2), max: Some(5), pattern: Some(&NON_BLANK) })),
        ),
        optional("code", node(Shape::String(WORD))),
        optional("note", nullable(text(None, Some(3)))),
        optional(
            "named",
            Schema { shape: text(Some(3), Some(3)), nullable: false, message: Some("must be three letters") },
        ),
    ],
    additional: Additional::Closed,
}));

static INTEGERS: Schema = node(Shape::Object(&ObjectRule {
    properties: &[
        required("n", node(integer(Some(0), Some(10)))),
        optional("any", node(integer(None, None))),
        optional(
            "step",
            node(Shape::Integer(IntegerRule { min: Some(-20), max: None, multiple_of: Some(5) })),
        ),
    ],
    additional: Additional::Closed,
}));

static NUMBERS: Schema = node(Shape::Object(&ObjectRule {
    properties: &[
        required("share", node(Shape::Number(NumberRule { min: bound(0.0, true), max: bound(1.0, true) }))),
        optional("above", node(Shape::Number(NumberRule { min: bound(0.0, false), max: None }))),
        optional("below", node(Shape::Number(NumberRule { min: None, max: bound(2.5, false) }))),
    ],
    additional: Additional::Closed,
}));

static ENUMS: Schema = node(Shape::Object(&ObjectRule {
    properties: &[
        required("status", node(Shape::Enum(&[Literal::String("A"), Literal::String("B")]))),
        optional("level", nullable(Shape::Enum(&[Literal::Integer(1), Literal::Integer(2)]))),
        optional("only", node(Shape::Enum(&[Literal::String("A")]))),
        optional("mixed", node(Shape::Enum(&[Literal::Boolean(true), Literal::Null, Literal::Integer(-1)]))),
        optional("flag", node(Shape::Boolean)),
        optional("nothing", node(Shape::Null)),
    ],
    additional: Additional::Closed,
}));

static ARRAYS: Schema = node(Shape::Object(&ObjectRule {
    properties: &[
        required(
            "tags",
            node(Shape::Array(&ArrayRule {
                items: node(text(Some(1), None)),
                min: Some(1),
                max: Some(3),
                unique: true,
            })),
        ),
        optional(
            "grid",
            node(Shape::Array(&ArrayRule {
                items: node(Shape::Array(&ArrayRule {
                    items: node(integer(Some(0), None)),
                    min: None,
                    max: Some(2),
                    unique: false,
                })),
                min: None,
                max: None,
                unique: false,
            })),
        ),
        optional(
            "things",
            node(Shape::Array(&ArrayRule { items: node(Shape::Any), min: None, max: None, unique: true })),
        ),
    ],
    additional: Additional::Closed,
}));

static NESTED: Schema = node(Shape::Object(&ObjectRule {
    properties: &[
        required(
            "owner",
            node(Shape::Object(&ObjectRule {
                properties: &[
                    required("name", node(text(Some(1), None))),
                    optional(
                        "home",
                        nullable(Shape::Object(&ObjectRule {
                            properties: &[required("city", node(text(None, Some(4))))],
                            additional: Additional::Closed,
                        })),
                    ),
                ],
                additional: Additional::Closed,
            })),
        ),
        required("anything", node(Shape::Any)),
    ],
    additional: Additional::Open,
}));

static RECORDS: Schema = node(Shape::Object(&ObjectRule {
    properties: &[
        required(
            "scores",
            node(Shape::Record(&RecordRule {
                keys: Some(WORD),
                values: node(integer(Some(0), Some(10))),
                min: Some(1),
                max: Some(2),
            })),
        ),
        optional(
            "labels",
            node(Shape::Record(&RecordRule {
                keys: None,
                values: nullable(text(None, None)),
                min: None,
                max: None,
            })),
        ),
    ],
    additional: Additional::Closed,
}));

static UNIONS: Schema = node(Shape::Object(&ObjectRule {
    properties: &[
        required(
            "either",
            node(Shape::Union(&UnionRule {
                branches: &[node(text(None, Some(3))), node(integer(Some(0), Some(10)))],
                exclusive: false,
            })),
        ),
        optional(
            "one",
            nullable(Shape::Union(&UnionRule {
                branches: &[
                    node(integer(Some(0), Some(10))),
                    node(Shape::Number(NumberRule { min: bound(5.0, true), max: bound(20.0, true) })),
                ],
                exclusive: true,
            })),
        ),
        optional(
            "shape",
            node(Shape::Union(&UnionRule {
                branches: &[
                    node(Shape::Object(&ObjectRule {
                        properties: &[
                            required("kind", node(Shape::Enum(&[Literal::String("A")]))),
                            required("n", node(integer(None, Some(10)))),
                        ],
                        additional: Additional::Closed,
                    })),
                    node(Shape::Object(&ObjectRule {
                        properties: &[
                            required("kind", node(Shape::Enum(&[Literal::String("B")]))),
                            defaulted("n", node(integer(None, None)), "3"),
                        ],
                        additional: Additional::Closed,
                    })),
                ],
                exclusive: true,
            })),
        ),
    ],
    additional: Additional::Closed,
}));

static DEFAULTS: Schema = node(Shape::Object(&ObjectRule {
    properties: &[
        defaulted("order", node(Shape::Enum(&[Literal::String("A"), Literal::String("B")])), "\"A\""),
        required("n", node(integer(None, None))),
        defaulted("limit", node(integer(Some(1), Some(10))), "5"),
        defaulted(
            "filter",
            node(Shape::Object(&ObjectRule {
                properties: &[
                    optional("note", node(text(None, None))),
                    defaulted("deep", node(Shape::Boolean), "true"),
                ],
                additional: Additional::Open,
            })),
            "{\"deep\":false}",
        ),
    ],
    additional: Additional::Closed,
}));

static LIST: Schema = node(Shape::Array(&ArrayRule {
    items: nullable(Shape::Union(&UnionRule {
        branches: &[node(Shape::Boolean), node(text(Some(1), Some(2)))],
        exclusive: false,
    })),
    min: None,
    max: Some(4),
    unique: true,
}));

/// All of them.
pub static PAIRS: &[Pair] = &[
    Pair {
        name: "empty",
        table: &EMPTY,
        text: r#"{"type":"object","properties":{},"additionalProperties":false}"#,
    },
    Pair {
        name: "prompt",
        table: &PROMPT,
        text: r#"{"type":"object","properties":{"prompt":{"type":"string","minLength":1}},"required":["prompt"],"additionalProperties":false}"#,
    },
    Pair {
        name: "texts",
        table: &TEXTS,
        text: r#"{"type":"object","properties":{"title":{"type":"string","minLength":2,"maxLength":5,"pattern":"\\S"},"code":{"type":"string","pattern":"^[a-z]{2,4}$"},"note":{"type":["string","null"],"maxLength":3},"named":{"type":"string","minLength":3,"maxLength":3}},"required":["title"],"additionalProperties":false}"#,
    },
    Pair {
        name: "integers",
        table: &INTEGERS,
        text: r#"{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":10},"any":{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991},"step":{"type":"integer","minimum":-20,"multipleOf":5}},"required":["n"],"additionalProperties":false}"#,
    },
    Pair {
        name: "numbers",
        table: &NUMBERS,
        text: r#"{"type":"object","properties":{"share":{"type":"number","minimum":0,"maximum":1},"above":{"type":"number","exclusiveMinimum":0},"below":{"type":"number","exclusiveMaximum":2.5}},"required":["share"],"additionalProperties":false}"#,
    },
    Pair {
        name: "enums",
        table: &ENUMS,
        text: r#"{"type":"object","properties":{"status":{"enum":["A","B"]},"level":{"enum":[1,2,null]},"only":{"const":"A"},"mixed":{"enum":[true,null,-1]},"flag":{"type":"boolean"},"nothing":{"type":"null"}},"required":["status"],"additionalProperties":false}"#,
    },
    Pair {
        name: "arrays",
        table: &ARRAYS,
        text: r#"{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string","minLength":1},"minItems":1,"maxItems":3,"uniqueItems":true},"grid":{"type":"array","items":{"type":"array","items":{"type":"integer","minimum":0},"maxItems":2}},"things":{"type":"array","uniqueItems":true}},"required":["tags"],"additionalProperties":false}"#,
    },
    Pair {
        name: "nested",
        table: &NESTED,
        text: r#"{"type":"object","properties":{"owner":{"type":"object","properties":{"name":{"type":"string","minLength":1},"home":{"type":["object","null"],"properties":{"city":{"type":"string","maxLength":4}},"required":["city"],"additionalProperties":false}},"required":["name"],"additionalProperties":false},"anything":{}},"required":["owner","anything"]}"#,
    },
    Pair {
        name: "records",
        table: &RECORDS,
        text: r#"{"type":"object","properties":{"scores":{"type":"object","propertyNames":{"pattern":"^[a-z]{2,4}$"},"additionalProperties":{"type":"integer","minimum":0,"maximum":10},"minProperties":1,"maxProperties":2},"labels":{"type":"object","additionalProperties":{"type":["string","null"]}}},"required":["scores"],"additionalProperties":false}"#,
    },
    Pair {
        name: "unions",
        table: &UNIONS,
        text: r#"{"type":"object","properties":{"either":{"anyOf":[{"type":"string","maxLength":3},{"type":"integer","minimum":0,"maximum":10}]},"one":{"anyOf":[{"type":"null"},{"oneOf":[{"type":"integer","minimum":0,"maximum":10},{"type":"number","minimum":5,"maximum":20}]}]},"shape":{"oneOf":[{"type":"object","properties":{"kind":{"const":"A"},"n":{"type":"integer","maximum":10}},"required":["kind","n"],"additionalProperties":false},{"type":"object","properties":{"kind":{"const":"B"},"n":{"type":"integer","default":3}},"required":["kind"],"additionalProperties":false}]}},"required":["either"],"additionalProperties":false}"#,
    },
    Pair {
        name: "defaults",
        table: &DEFAULTS,
        text: r#"{"type":"object","properties":{"order":{"enum":["A","B"],"default":"A"},"n":{"type":"integer"},"limit":{"type":"integer","minimum":1,"maximum":10,"default":5},"filter":{"type":"object","properties":{"note":{"type":"string"},"deep":{"type":"boolean","default":true}},"default":{"deep":false}}},"required":["n"],"additionalProperties":false}"#,
    },
    Pair {
        name: "list",
        table: &LIST,
        text: r#"{"type":"array","items":{"anyOf":[{"type":"null"},{"type":"boolean"},{"type":"string","minLength":1,"maxLength":2}]},"maxItems":4,"uniqueItems":true}"#,
    },
];

/// The table of that name.
pub fn table(name: &str) -> &'static Schema {
    PAIRS.iter().find(|pair| pair.name == name).unwrap_or_else(|| panic!("no schema {name}")).table
}
