export interface RunningShow {
  readonly id: number
  readonly group_ids: readonly number[]
}

interface SlotGroup {
  readonly id: number
  readonly slots: readonly number[]
}

/** Lists the running shows that have no groups, or have the channel's slot in one of their groups. */
export function listShowsOfSlot(
  slot: number,
  runningShows: readonly RunningShow[],
  groups: readonly SlotGroup[],
): readonly number[] {
  if (runningShows.length === 0) return []
  const groupsOfSlot = new Set(groups.filter(({ slots }) => slots.includes(slot)).map(({ id }) => id))
  return runningShows
    .filter(({ group_ids }) => group_ids.length === 0 || group_ids.some((id) => groupsOfSlot.has(id)))
    .map(({ id }) => id)
}
