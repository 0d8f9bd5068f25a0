//! Call: one launch of a kernel over arrays in memory, whose types are known at run time, as a
//! workload without files.
//!
//! The arguments are compared with the kernel's parameters here; the launch file that says the same
//! is made of them, so that a call is resolved, executed and counted as any workload.

use std::borrow::Cow;
use std::sync::Arc;

use strata_ptx::diagnostic::counted;
use strata_ptx::module::{Function, FunctionId, Module, Variable};
use strata_ptx::types::{Kind, ScalarType};
use toml::{Table, Value};

use strata_design::Design;
use strata_files::failure::Failure;
use strata_measure::notes::Notes;
use strata_measure::options::{Mode, Scale, Source};
use strata_measure::report::RunReport;
use strata_measure::subject::{self, Subject};
use strata_measure::{self as measure, Request};
use strata_workload::element::ElementType;
use strata_workload::kernel_name;
use strata_workload::launch_template;
use strata_workload::parameter::described;
use strata_workload::{Workload, real};

/// An array that a kernel gets the address of.
#[derive(Clone, Debug)]
pub struct CallArray {
    /// Type of one element.
    pub element: ElementType,
    /// Its elements, little endian; a multiple of the size of one.
    pub bytes: Arc<[u8]>,
}

/// What is passed for a parameter.
#[derive(Clone, Debug)]
pub enum CallArgument {
    /// One of the arrays: its address, or for a structure its bytes.
    Array(usize),
    /// A whole number.
    Integer(i128),
    /// A number with decimals.
    Real(f64),
    /// The bytes of a structure.
    Bytes(Vec<u8>),
}

/// One launch.
#[derive(Clone, Debug)]
pub struct Call {
    /// One to three sides. Unit: CTAs.
    pub grid: Vec<u32>,
    /// One to three sides. Unit: threads.
    pub block: Vec<u32>,
    /// Dynamic shared memory. Unit: bytes for each CTA.
    pub dynamic_shared: u32,
    /// All CTAs are resident at once, for `grid.sync()`.
    pub cooperative: bool,
    /// Arrays, each its own buffer.
    pub arrays: Vec<CallArray>,
    /// One for each parameter of the kernel, in order.
    pub arguments: Vec<CallArgument>,
}

/// A kernel of a PTX text.
#[derive(Clone, Debug)]
pub struct CallKernel {
    /// Name of the PTX in messages.
    pub file: String,
    /// The PTX.
    pub ptx: String,
    module: Module,
    kernel: FunctionId,
}

/// How a call is executed and counted.
#[derive(Clone, Debug)]
pub struct CallOptions {
    /// Designs, of which no two have the same name.
    pub designs: Vec<Design>,
    /// What is simulated.
    pub mode: Mode,
    /// Registers, order of instructions and budget, of options of `strata run`.
    pub source: Source,
}

/// What came out of a call.
#[derive(Debug)]
pub struct Called {
    /// The call as a workload.
    pub subject: Subject,
    /// How it was measured.
    pub request: Request,
    /// The designs, in order.
    pub designs: Vec<Design>,
    /// One for each design.
    pub reports: Vec<RunReport>,
    /// The final contents of the arrays.
    pub arrays: Vec<Vec<u8>>,
}

impl CallKernel {
    /// The kernel of a PTX text that has this name, or its only one.
    ///
    /// # Errors
    /// Everything that is wrong with the PTX; no such kernel; several of which none is named.
    pub fn new(
        file: &str,
        ptx: &str,
        name: Option<&str>,
        notes: &dyn Notes,
    ) -> Result<Self, Failure> {
        let parsed = strata_ptx::parse(ptx);
        if parsed.has_errors() {
            return Err(subject::diagnostics(file, ptx, &parsed.diagnostics));
        }
        let module = parsed.module;
        let all: Vec<_> = module.kernels().map(|(id, of)| (id, of.name.as_str())).collect();
        let names = || kernel_name::list(all.iter().map(|(_, name)| *name));
        let kernel = match (name, all.as_slice()) {
            (_, []) => {
                return Err(Failure::input(format!("`{file}` has no kernel"))
                    .hint("a kernel is an `.entry` with a body"));
            }
            (None, [(only, _)]) => *only,
            (None, _) => {
                return Err(Failure::input(format!("`{file}` has several kernels: {}", names()))
                    .hint("name one of them"));
            }
            (Some(asked), all) => {
                let found = kernel_name::find(all.iter().map(|(_, name)| *name), asked);
                let meant = found.and_then(|name| module.kernel(name).ok_or_else(Vec::new));
                meant.map_err(|meant| match meant.as_slice() {
                    [] => Failure::input(format!("`{file}` has no kernel `{asked}`"))
                        .hint(format!("it has {}", names())),
                    several => Failure::input(format!("`{file}` has several kernels `{asked}`"))
                        .hint(format!("name one of them: {}", several.join("; "))),
                })?
            }
        };
        subject::warn(file, ptx, notes);
        Ok(Self { file: file.to_owned(), ptx: ptx.to_owned(), module, kernel })
    }

    fn function(&self) -> &Function {
        &self.module.functions[self.kernel.index()]
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.function().name
    }

    /// Its parameters: each one's name, and its type in PTX's spelling.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, String)> {
        self.variables().iter().map(|of| (of.name.as_str(), described(of)))
    }

    fn variables(&self) -> &[Variable] {
        let function = self.function();
        &function.variables[..function.parameters as usize]
    }
}

impl Call {
    /// Executes it once, and counts it under each design.
    ///
    /// # Errors
    /// Arguments that do not suit the kernel's parameters or what the kernel does with them; all
    /// that keeps the kernel from running; designs that do not exist or do not suit it.
    pub fn run(
        &self,
        kernel: &CallKernel,
        options: &CallOptions,
        notes: &dyn Notes,
    ) -> Result<Called, Failure> {
        let designs = options.designs.clone();
        subject::told_apart(&designs)?;
        let mut workload = self.workload(kernel)?;
        workload.options = subject::options(&options.source)?;
        let request = Request::new(&options.source)?.in_mode(options.mode);
        let request = request.for_designs(&designs).with_totals_only();
        let (reports, arrays) = measure::reports_and_buffers(&workload, &designs, &request, notes)?;
        let subject = Subject::Workload(Box::new(workload));
        Ok(Called { subject, request, designs, reports, arrays })
    }

    /// The call as a workload: its buffers are the arrays, in order.
    fn workload(&self, kernel: &CallKernel) -> Result<Workload, Failure> {
        let (name, parameters) = (kernel.name(), kernel.variables());
        if parameters.len() != self.arguments.len() {
            let message = format!(
                "kernel `{name}` has {}, and {} given",
                counted(parameters.len(), "parameter"),
                match self.arguments.len() {
                    1 => "1 argument is".to_owned(),
                    many => format!("{many} arguments are"),
                }
            );
            return Err(Failure::input(message).hint("give one argument for each parameter"));
        }
        for (index, argument) in self.arguments.iter().enumerate() {
            if let CallArgument::Array(at) = argument
                && self.arrays[*at].bytes.is_empty()
            {
                let message =
                    format!("argument {index} of kernel `{name}` is an array without elements");
                return Err(Failure::input(message).hint("give it at least one"));
            }
        }
        let accessed = launch_template::accessed(&kernel.module, kernel.kernel);
        let mut arguments = Vec::with_capacity(parameters.len());
        for (index, (argument, parameter)) in self.arguments.iter().zip(parameters).enumerate() {
            let accessed = accessed.get(index).copied().flatten();
            let value = self.value(argument, parameter, (accessed, kernel.module.address_bits));
            arguments.push(value.map_err(|Unsuitable { because, help }| {
                let message =
                    format!("argument {index} of kernel `{name}`, `{}`: {because}", parameter.name);
                Failure::input(message).hint(help)
            })?);
        }
        let ptx = (kernel.file.clone(), Cow::Owned(kernel.ptx.clone()));
        let launch = (format!("the launch of `{name}`"), Cow::Owned(self.text(name, arguments)));
        let workload = Workload::from_texts(name.to_owned(), ptx, launch)?;
        let contents = self.arrays.iter().map(|array| Arc::clone(&array.bytes)).collect();
        Ok(workload.with_contents(contents))
    }

    /// The launch file.
    fn text(&self, kernel: &str, arguments: Vec<Value>) -> String {
        let integers = |sides: &[u32]| {
            Value::Array(sides.iter().map(|&side| Value::Integer(side.into())).collect())
        };
        let buffer = |(index, array): (usize, &CallArray)| {
            let count = array.bytes.len() as u64 / array.element.bytes();
            Value::Table(Table::from_iter([
                ("name".to_owned(), buffer_name(index).into()),
                ("type".to_owned(), array.element.name().into()),
                ("count".to_owned(), Value::Integer(count as i64)),
                ("generator".to_owned(), "zero".into()),
            ]))
        };
        let mut launch = Table::from_iter([
            ("kernel".to_owned(), kernel.into()),
            ("grid".to_owned(), integers(&self.grid)),
            ("block".to_owned(), integers(&self.block)),
            ("shared".to_owned(), Value::Integer(self.dynamic_shared.into())),
            ("arguments".to_owned(), Value::Array(arguments)),
        ]);
        if self.cooperative {
            launch.insert("cooperative".to_owned(), Value::Boolean(true));
        }
        let size = Scale::Default.name().to_owned();
        let size = Table::from_iter([(size, Value::Table(Table::new()))]);
        let buffers = self.arrays.iter().enumerate().map(buffer).collect();
        let file = Table::from_iter([
            ("description".to_owned(), "One launch over arrays.".into()),
            ("size".to_owned(), Value::Table(size)),
            ("buffer".to_owned(), Value::Array(buffers)),
            ("launch".to_owned(), Value::Array(vec![Value::Table(launch)])),
        ]);
        file.to_string()
    }

    /// An argument as a launch file has it.
    fn value(
        &self,
        argument: &CallArgument,
        parameter: &Variable,
        (accessed, address_bits): (Option<ScalarType>, u8),
    ) -> Result<Value, Unsuitable> {
        let ty = parameter.ty;
        let scalar = parameter.dimensions.is_empty() && parameter.vector == 1;
        let takes = |found: String, help| {
            let because =
                format!("the kernel takes {}, and {found} is given", described(parameter));
            Err(Unsuitable { because, help })
        };
        match argument {
            CallArgument::Array(index) if scalar => {
                let array = &self.arrays[*index];
                let integer = matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed);
                if !integer || ty.bits() != u32::from(address_bits) {
                    let found = format!("an array of {}", array.element.name());
                    return takes(found, "pass a number");
                }
                array.check(accessed)?;
                Ok(buffer_name(*index).into())
            }
            CallArgument::Array(index) => structure(&self.arrays[*index].bytes, parameter),
            CallArgument::Bytes(bytes) if !scalar => structure(bytes, parameter),
            CallArgument::Bytes(bytes) => {
                let found = counted(bytes.len(), "byte");
                takes(found, "bytes are for structures: pass a number or an array")
            }
            CallArgument::Integer(_) | CallArgument::Real(_) if !scalar => {
                takes("a number".to_owned(), "pass the bytes of the structure, or an array")
            }
            CallArgument::Integer(value) => integer(*value, ty),
            CallArgument::Real(value) => match (ty.kind(), ty.bytes()) {
                (Kind::Float | Kind::Bits, 4) => float(*value, ElementType::F32),
                (Kind::Float | Kind::Bits, 8) => float(*value, ElementType::F64),
                (Kind::Float, _) => takes(
                    "a number".to_owned(),
                    "strata passes no scalars of this type: pass an array of one element",
                ),
                _ => takes("a number with decimals".to_owned(), "pass a whole number"),
            },
        }
    }
}

/// Why an argument cannot be passed, and what to do.
struct Unsuitable {
    because: String,
    help: &'static str,
}

impl CallArray {
    /// Refuses elements of another type than the kernel accesses, as far as that is known: of
    /// another floating-point type, or larger than what is accessed. Accesses of integers and bits
    /// take any elements of their size, and larger accesses several of them.
    fn check(&self, accessed: Option<ScalarType>) -> Result<(), Unsuitable> {
        let Some(accessed) = accessed else { return Ok(()) };
        let same_float = self.element.name() == accessed.name();
        let float = ElementType::ALL.iter().any(|of| of.is_float() && of.name() == accessed.name());
        let small = self.element.bytes() <= u64::from(accessed.bytes());
        if if float { same_float } else { small } {
            return Ok(());
        }
        let because = format!(
            "the kernel accesses .{} there, and an array of {} is given",
            accessed.name(),
            self.element.name()
        );
        let help =
            "convert the numbers (NumPy's `astype`), or say that their bits are meant (`view`)";
        Err(Unsuitable { because, help })
    }
}

fn buffer_name(index: usize) -> String {
    format!("array{index}")
}

/// A structure, byte by byte.
fn structure(bytes: &[u8], parameter: &Variable) -> Result<Value, Unsuitable> {
    if bytes.len() as u64 != parameter.size {
        let found = counted(bytes.len(), "byte");
        let because = format!("the kernel takes {}, and {found} are given", described(parameter));
        return Err(Unsuitable { because, help: "lay the structure out as C++ does" });
    }
    let bytes = bytes.iter().map(|&byte| Value::Integer(byte.into())).collect();
    Ok(table("bytes", Value::Array(bytes)))
}

/// A whole number of a parameter's type. Types of the same size are passed alike.
fn integer(value: i128, ty: ScalarType) -> Result<Value, Unsuitable> {
    let bits = ty.bits();
    let (low, high) = match ty.kind() {
        Kind::Unsigned => (0, (1_i128 << bits) - 1),
        Kind::Signed => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        Kind::Bits if bits <= 64 => (-(1_i128 << (bits - 1)), (1_i128 << bits) - 1),
        Kind::Float if matches!(bits, 32 | 64) => {
            let element = if bits == 32 { ElementType::F32 } else { ElementType::F64 };
            let exact = i64::try_from(value)
                .map_or(Err(()), |value| real::of_integer(value, element).map_err(|_| ()));
            return exact.map(|value| table(element.name(), Value::Float(value))).map_err(|()| {
                let because = format!("{value} is no number of .{}", ty.name());
                Unsuitable { because, help: "pass the nearest number as one with decimals" }
            });
        }
        _ => {
            let because = format!("the kernel takes .{}, and a number is given", ty.name());
            let help = "strata passes no scalars of this type: pass an array of one element";
            return Err(Unsuitable { because, help });
        }
    };
    if !(low..=high).contains(&value) {
        let because = format!("{value} does not fit .{}: {low} to {high} do", ty.name());
        return Err(Unsuitable { because, help: "pass a number in this range" });
    }
    // A launch file has no unsigned numbers of 64 bits; the bits are the same.
    let (name, value) = match bits {
        64 => ("s64", value as i64),
        32 => ("u32", i64::from(value as u32)),
        16 => ("u16", i64::from(value as u16)),
        _ => ("u8", i64::from(value as u8)),
    };
    Ok(table(name, Value::Integer(value)))
}

/// A number with decimals, rounded once to the parameter's type.
fn float(value: f64, element: ElementType) -> Result<Value, Unsuitable> {
    match real::rounded(value, element) {
        Ok(value) => Ok(table(element.name(), Value::Float(value))),
        Err(problem) => Err(Unsuitable {
            because: problem.to_string(),
            help: "pass a number that the type holds",
        }),
    }
}

fn table(key: &str, value: Value) -> Value {
    Value::Table(Table::from_iter([(key.to_owned(), value)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_measure::notes::Silent;
    use strata_study::sweep::points::key_of;

    const ADD: &str = ".version 8.0\n.target sm_75\n.address_size 64\n\
        .visible .entry add(.param .u64 to, .param .u32 more)\n{\n.reg .b32 %i, %v;\n\
        .reg .b64 %to;\nld.param.u64 %to, [to];\nld.param.u32 %v, [more];\n\
        mov.u32 %i, %tid.x;\nadd.u32 %v, %v, %i;\nmad.wide.u32 %to, %i, 4, %to;\n\
        st.global.u32 [%to], %v;\nret;\n}\n";

    fn kernel() -> CallKernel {
        CallKernel::new("add.ptx", ADD, None, &Silent).unwrap()
    }

    /// The kernel over an array of as many elements as threads.
    fn call(element: ElementType, argument: CallArgument) -> Call {
        let bytes = vec![0; 4 * element.bytes() as usize].into();
        Call {
            grid: vec![1],
            block: vec![4],
            dynamic_shared: 0,
            cooperative: false,
            arrays: vec![CallArray { element, bytes }],
            arguments: vec![CallArgument::Array(0), argument],
        }
    }

    fn run(call: &Call) -> Result<Called, String> {
        let designs = ["isca11", "isca11-rfc6"].map(|name| strata_design::resolve(name).unwrap());
        let designs = designs.to_vec();
        let source = Source::of(Scale::Default);
        let options = CallOptions { designs, mode: Mode::Count, source };
        let called = call.run(&kernel(), &options, &Silent);
        called.map_err(|failure| failure.message().to_owned())
    }

    #[test]
    fn a_call_changes_its_arrays_and_is_counted_under_each_design() {
        let called = run(&call(ElementType::U32, CallArgument::Integer(7))).unwrap();
        let words: Vec<_> = called.arrays[0].chunks(4).map(|word| word[0]).collect();
        assert_eq!(words, [7, 8, 9, 10]);
        let designs: Vec<_> = called.reports.iter().map(|report| &*report.design).collect();
        assert_eq!(designs, ["isca11", "isca11-rfc6"]);
        assert_eq!(called.reports[0].workload, "add");
        assert_eq!(called.reports[0].counters["warp_instructions"], 7);
    }

    #[test]
    fn a_point_s_key_depends_on_arguments_and_contents() {
        let first = call(ElementType::U32, CallArgument::Integer(7));
        let mut contents = first.clone();
        contents.arrays[0].bytes = vec![1; 16].into();
        let argument = call(ElementType::U32, CallArgument::Integer(8));
        let key = |call: &Call| {
            let Called { subject, request, designs, .. } = run(call).unwrap();
            key_of((&subject, &request), &designs[0]).unwrap()
        };
        assert_eq!(key(&first), key(&first));
        assert_ne!(key(&first), key(&contents));
        assert_ne!(key(&first), key(&argument));
    }

    #[test]
    fn arguments_that_do_not_suit_say_why() {
        let of = |element, argument| run(&call(element, argument)).unwrap_err();
        for (element, argument, expected) in [
            (ElementType::U32, CallArgument::Integer(-1), "-1 does not fit .u32: 0 to 4294967295"),
            (ElementType::U32, CallArgument::Real(1.0), "a number with decimals is given"),
            (ElementType::U32, CallArgument::Array(0), "takes .u32, and an array of u32 is given"),
            (ElementType::U32, CallArgument::Bytes(vec![0; 4]), "and 4 bytes is given"),
            (
                ElementType::U64,
                CallArgument::Integer(1),
                "accesses .u32 there, and an array of u64",
            ),
        ] {
            let error = of(element, argument);
            assert!(error.contains(expected) && error.contains("hint: "), "{error}");
            assert!(error.starts_with("argument "), "{error}");
        }
        let mut more = call(ElementType::U32, CallArgument::Integer(1));
        more.arguments.push(CallArgument::Integer(1));
        assert!(run(&more).unwrap_err().contains("has 2 parameters, and 3 arguments are given"));
    }

    #[test]
    fn numbers_of_every_type_are_passed_by_their_bits() {
        let text = |value: Result<Value, Unsuitable>| value.map_err(|_| ()).unwrap().to_string();
        assert_eq!(text(integer(-1, ScalarType::S8)), "{ u8 = 255 }");
        assert_eq!(text(integer(u64::MAX.into(), ScalarType::U64)), "{ s64 = -1 }");
        assert_eq!(text(integer(3, ScalarType::F32)), "{ f32 = 3.0 }");
        assert_eq!(text(float(f64::NAN, ElementType::F64)), "{ f64 = nan }");
        assert!(integer((1 << 24) + 1, ScalarType::F32).is_err());
        assert!(float(1e39, ElementType::F32).is_err() && float(1e-60, ElementType::F32).is_err());
    }
}
