//! Grid: the CTAs of a launch that are still to be launched.

/// CTAs in the order of their launch, each with its warps. A CTA may be launched in part: its other
/// warps are the next then.
pub struct Grid<I: Iterator<Item: IntoIterator>> {
    ctas: I,
    /// The warps left of the CTA that is being launched.
    warps: Option<<I::Item as IntoIterator>::IntoIter>,
    /// No CTA is left.
    is_exhausted: bool,
}

impl<I: Iterator<Item: IntoIterator>> core::fmt::Debug for Grid<I> {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        to.debug_struct("Grid").field("in_launch", &self.warps.is_some()).finish_non_exhaustive()
    }
}

impl<I: Iterator<Item: IntoIterator>> Grid<I> {
    /// The CTAs of a launch.
    pub fn new(ctas: impl IntoIterator<IntoIter = I>) -> Self {
        Self { ctas: ctas.into_iter(), warps: None, is_exhausted: false }
    }

    /// The warps that are launched next; none if no CTA is left.
    pub(super) fn next_warps(&mut self) -> Option<&mut <I::Item as IntoIterator>::IntoIter> {
        if self.warps.is_none() && !self.is_exhausted {
            self.warps = self.ctas.next().map(IntoIterator::into_iter);
            self.is_exhausted = self.warps.is_none();
        }
        self.warps.as_mut()
    }

    /// Whether there was no CTA left when one was asked for.
    #[inline]
    pub(super) const fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// All warps of the CTA have been launched.
    pub(super) fn launched(&mut self) {
        self.warps = None;
    }
}
