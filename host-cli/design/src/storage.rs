//! Storage of a design that is divided for each application: what `[storage]` in a design file
//! says, and the divisions that it can choose among.
//!
//! Source: `[MICRO2012]` 4.4, 4.5 and 6.3, `[DISS]` 7.3.4 to 7.3.6; `docs/MODEL.md`, rule 37.

use std::fmt::Write as _;

use serde::Deserialize;
use strata_core::named;
use strata_core::sm::config::{MAX_RESIDENT_WARPS, SmSettings};
use strata_core::sm::partition::{Areas, CacheRule, CacheSizes, Division, Limits};
use strata_core::storage_energy::CacheArray;
use strata_core::units::LANES;

use super::checks::{combination, range};
use strata_config::ConfigError;
use strata_config::by_name::ByName;

/// Largest storage, and largest area. Unit: KB.
const MOST_KB: i64 = 4096;
/// Step of unified storage: a KB of each bank. Unit: KB.
const UNIFIED_STEP_KB: i64 = 32;
/// Step of a cache's size. Unit: KB.
const CACHE_STEP_KB: i64 = 2;
/// Most splits among which the fastest is taken.
const MOST_SPLITS: usize = 8;

named! {
    /// How many threads of an application are resident.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ThreadChoice {
        /// As many as fit (`[MICRO2012]` 4.5).
        #[default]
        Most = "most",
        /// As many as run fastest: every number of CTAs that fits is tried (`[DISS]` 7.5.6).
        Search = "search",
    }
}

named! {
    /// When the storage is divided again.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Repartition {
        /// Once for an application, for what its kernels need at most (`[MICRO2012]` 4.4).
        #[default]
        Application = "application",
        /// Before each kernel; a changed partition empties the cache.
        Kernel = "kernel",
    }
}

/// How a design's storage is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The ways to divide it; of several, the one with which the application runs fastest.
    /// Invariant: at least one.
    pub divisions: Vec<Division>,
    /// How many threads are resident.
    pub threads: ThreadChoice,
    /// Most of them; without, the lanes of all warps.
    pub most_threads: Option<u32>,
    /// When it is divided again.
    pub repartition: Repartition,
    /// In which array the cache lies, where areas have fixed sizes: a matter of energy.
    pub cache_array: CacheArray,
}

/// `[storage]`: the design's storage is divided for each application.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageTable {
    unified_kb: Option<i64>,
    splits_kb: Option<Vec<[i64; 3]>>,
    cache_sizes: Option<ByName<CacheSizes>>,
    most_cache_kb: Option<i64>,
    disable_unused: Option<bool>,
    threads: Option<ByName<ThreadChoice>>,
    most_threads: Option<i64>,
    repartition: Option<ByName<Repartition>>,
    cache_array: Option<ByName<CacheArray>>,
}

impl StorageTable {
    /// What the table says; what it leaves out is that of `base`, if the base's storage is divided
    /// as well.
    ///
    /// # Errors
    /// A size out of its range, or keys that do not go together.
    pub(super) fn storage(
        &self,
        file: &str,
        base: Option<&Storage>,
    ) -> Result<Storage, ConfigError> {
        let divisions = match (self.unified_kb, &self.splits_kb) {
            (Some(_), Some(_)) => {
                return Err(combination(
                    file,
                    "`storage.unified_kb` and `storage.splits_kb` are two ways to divide storage",
                    "keep one of them",
                ));
            }
            (Some(kb), None) => vec![Division::Unified {
                bytes: kilobytes(file, "unified_kb", kb, UNIFIED_STEP_KB, UNIFIED_STEP_KB)?,
                cache: CacheRule {
                    sizes: CacheSizes::Multiples,
                    most: None,
                    disable_unused: false,
                },
            }],
            (None, Some(splits)) => self::splits(file, splits)?,
            (None, None) => base.map(|base| base.divisions.clone()).ok_or_else(|| {
                combination(
                    file,
                    "`[storage]` does not say how much storage there is",
                    "add `unified_kb = 384`, or `splits_kb = [[256, 64, 64]]`",
                )
            })?,
        };
        let divisions = divisions.into_iter().map(|division| self.cache_rule(file, division));
        let divisions = divisions.collect::<Result<Vec<_>, _>>()?;
        let most_threads = self.most_threads.map(|threads| {
            let most = MAX_RESIDENT_WARPS as u32 * LANES;
            if !(1..=i64::from(most)).contains(&threads) {
                return Err(range(file, "storage.most_threads", threads, 1, most, "threads"));
            }
            Ok(threads as u32)
        });
        let threads = self.threads.map(|choice| choice.0);
        let repartition = self.repartition.map(|choice| choice.0);
        let cache_array = self.cache_array(file, &divisions, base)?;
        Ok(Storage {
            divisions,
            cache_array,
            threads: threads.or(base.map(|base| base.threads)).unwrap_or_default(),
            most_threads: most_threads.transpose()?.or(base.and_then(|base| base.most_threads)),
            repartition: repartition.or(base.map(|base| base.repartition)).unwrap_or_default(),
        })
    }

    /// In which array the cache lies: by default in its own, as in unified storage, where there is
    /// only one.
    fn cache_array(
        &self,
        file: &str,
        divisions: &[Division],
        base: Option<&Storage>,
    ) -> Result<CacheArray, ConfigError> {
        let fixed = divisions.iter().any(|division| matches!(division, Division::Partitioned(_)));
        match (self.cache_array, base) {
            (Some(_), _) if !fixed => Err(combination(
                file,
                "`storage.cache_array` is for areas of fixed sizes",
                "give `splits_kb`, or leave it out",
            )),
            (Some(array), _) => Ok(array.0),
            (None, Some(base)) if fixed => Ok(base.cache_array),
            (None, _) => Ok(CacheArray::Own),
        }
    }

    /// The division with what the table says of the cache.
    fn cache_rule(&self, file: &str, division: Division) -> Result<Division, ConfigError> {
        let given = self.cache_sizes.is_some()
            || self.most_cache_kb.is_some()
            || self.disable_unused.is_some();
        match division {
            Division::Partitioned(_) if given => Err(combination(
                file,
                "`storage.cache_sizes`, `most_cache_kb` and `disable_unused` are for unified \
                 storage",
                "give `unified_kb`, or leave them out",
            )),
            Division::Partitioned(_) => Ok(division),
            Division::Unified { bytes, cache } => {
                let most = self.most_cache_kb;
                let most = most.map(|kb| kilobytes(file, "most_cache_kb", kb, 0, CACHE_STEP_KB));
                let cache = CacheRule {
                    sizes: self.cache_sizes.map_or(cache.sizes, |sizes| sizes.0),
                    most: most.transpose()?.or(cache.most),
                    disable_unused: self.disable_unused.unwrap_or(cache.disable_unused),
                };
                Ok(Division::Unified { bytes, cache })
            }
        }
    }
}

/// Areas of registers, shared memory and cache.
fn splits(file: &str, splits: &[[i64; 3]]) -> Result<Vec<Division>, ConfigError> {
    if splits.is_empty() || splits.len() > MOST_SPLITS {
        return Err(ConfigError::Range {
            file: file.to_owned(),
            key: "storage.splits_kb".to_owned(),
            value: format!("{} splits", splits.len()),
            allowed: format!("1 to {MOST_SPLITS} splits"),
        });
    }
    let split = |&[registers, shared, cache]: &[i64; 3]| {
        Ok(Division::Partitioned(Areas {
            registers: kilobytes(file, "splits_kb", registers, 1, 1)?,
            shared: kilobytes(file, "splits_kb", shared, 0, 1)?,
            cache: kilobytes(file, "splits_kb", cache, 0, CACHE_STEP_KB)?,
        }))
    };
    splits.iter().map(split).collect()
}

/// A number of KB, in bytes.
fn kilobytes(file: &str, key: &str, kb: i64, least: i64, step: i64) -> Result<u32, ConfigError> {
    if (least..=MOST_KB).contains(&kb) && kb % step == 0 {
        return Ok(kb as u32 * 1024);
    }
    let steps = if step == 1 { String::new() } else { format!(", in steps of {step}") };
    Err(ConfigError::Range {
        file: file.to_owned(),
        key: format!("storage.{key}"),
        value: kb.to_string(),
        allowed: format!("{least} to {MOST_KB} KB{steps}"),
    })
}

impl Storage {
    /// Whether registers, shared memory and cache are one storage.
    pub fn is_unified(&self) -> bool {
        self.divisions.iter().any(|division| matches!(division, Division::Unified { .. }))
    }

    /// What an SM has room for, whatever its storage.
    pub fn limits(&self, sm: &SmSettings) -> Limits {
        let (warps, ctas) = (u32::from(sm.max_warps), u32::from(sm.max_ctas));
        Limits { threads: self.most_threads.unwrap_or(warps * LANES), warps, ctas: Some(ctas) }
    }

    /// In words.
    pub(super) fn describe(&self) -> String {
        let divisions: Vec<_> = self.divisions.iter().map(division).collect();
        let mut text = divisions.join(" or ");
        if let Some(most) = self.most_threads {
            let _ = write!(text, ", at most {most} threads");
        }
        if self.threads == ThreadChoice::Search {
            text += ", as many threads as run fastest";
        }
        if self.repartition == Repartition::Kernel {
            text += ", divided for each kernel";
        }
        if self.cache_array == CacheArray::WithSharedMemory {
            text += ", shared memory and cache in one array";
        }
        text
    }

    /// Every parameter, by the key of a design file and its value.
    pub(super) fn parameters(storage: Option<&Self>) -> Vec<(&'static str, String)> {
        let of = |get: &dyn Fn(&Self) -> String| storage.map_or_else(|| "none".to_owned(), get);
        vec![
            (
                "storage",
                of(&|storage| {
                    let divisions: Vec<_> = storage.divisions.iter().map(division).collect();
                    divisions.join(" or ")
                }),
            ),
            ("storage.threads", of(&|storage| storage.threads.name().to_owned())),
            (
                "storage.most_threads",
                of(&|storage| {
                    storage.most_threads.map_or_else(|| "none".to_owned(), |most| most.to_string())
                }),
            ),
            ("storage.repartition", of(&|storage| storage.repartition.name().to_owned())),
            ("storage.cache_array", of(&|storage| storage.cache_array.name().to_owned())),
        ]
    }
}

/// A division in words.
pub fn division(division: &Division) -> String {
    match *division {
        Division::Partitioned(Areas { registers, shared, cache }) => {
            let [registers, shared, cache] = [registers, shared, cache].map(|bytes| bytes / 1024);
            format!("{registers}/{shared}/{cache} KB")
        }
        Division::Unified { bytes, cache } => {
            let mut text = format!("unified {} KB", bytes / 1024);
            if cache.sizes == CacheSizes::PowersOfTwo {
                text += ", caches of powers of two";
            }
            if let Some(most) = cache.most {
                let _ = write!(text, ", at most {} KB of cache", most / 1024);
            }
            if cache.disable_unused {
                text += ", the unused switched off";
            }
            text
        }
    }
}
