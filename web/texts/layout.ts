/** The hardware layout. */

const receivers = (count: number) => (count === 1 ? '1 receiver' : `${count} receivers`)

export const layoutTexts = {
  title: 'Hardware layout',
  intro:
    'Places, one inside another (a hall, a rack in it), the receivers and chargers that stand there, their channels and packs. A receiver ' +
    'that is put into another place is logged as a movement.',
  filters: { search: 'Search', heard: 'Heard' },
  count: (shown: number, nowhere: number) =>
    nowhere === 0 ? `${receivers(shown)}.` : `${receivers(shown)}, ${nowhere} without a place.`,
  nowhere: 'Without a place',
  nowhereNext: 'Select them and choose a place.',
  nowhereChoice: 'No place',
  empty: 'Nothing stands here.',
  none: 'No places and no receivers yet',
  noneNext: 'Receivers appear here by themselves as soon as a system has been polled. Places are added by hand.',
  noMatch: 'Nothing fits',
  holds: receivers,
  notHeard: 'Not heard',
  unnamed: 'Unnamed receiver',
  channels: (receiver: string) => `Channels of ${receiver}`,
  packs: (charger: string) => `Packs in ${charger}`,
  slot: (slot: number) => `Slot ${slot}`,
  edit: 'Edit',
  editOf: (name: string) => `Edit ${name}`,
  addInside: 'Add inside',
  addInsideOf: (name: string) => `Add inside ${name}`,
  add: 'Add a place',
  remove: 'Delete',
  removeOf: (name: string) => `Delete ${name}`,
  save: 'Save',
  saved: (name: string) => `Saved ${name}.`,
  place: {
    name: 'Name',
    description: 'Description',
    parent: 'Part of',
    top: 'Nothing: at the top',
    question: (name: string) => `Delete the place ${name}?`,
    follows: 'It is empty: no receiver loses its place.',
    deleted: (name: string) => `Deleted ${name}.`,
  },
  receiver: {
    name: 'Name',
    nameHint: 'Empty: what its system calls it, from the next poll on.',
    location: 'Place',
    reason: 'Reason',
    reasonHint: 'Stands in the movement log when the place changes.',
  },
  move: {
    text: 'Move',
    question: (count: number) => `Move ${receivers(count)}`,
    to: 'To',
    done: (count: number) => `Moved ${receivers(count)}.`,
    undone: (count: number) => `Moved ${receivers(count)} back.`,
    undoReason: 'Taken back',
  },
  removal: {
    text: 'Remove',
    question: (count: number) => `Remove ${receivers(count)}?`,
    follows:
      'They go with their channels, positions and history. One that its system still lists comes back with the next ' +
      'poll, as a new one.',
    done: (count: number) => `Removed ${receivers(count)}.`,
  },
} as const
