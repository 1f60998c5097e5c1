/** Groups of positions on the wall. */

export const groupTexts = {
  title: 'Groups',
  intro:
    'Positions that belong together: a band, a stage, a rack. Each group has its own wall, and a key from 1 to 9 on ' +
    'the live pages. The order is easier to change by hand, on the desk.',
  list: 'Groups',
  none: 'There is no group yet',
  noMatch: 'No group fits',
  noneNext: 'Without groups the wall shows every channel in the order of its position.',
  columns: {
    title: 'Title',
    slots: 'Positions',
    charts: 'Charts',
    manufacturer: 'Manufacturer',
    open: 'Open',
    actions: 'Actions',
  },
  noSlots: 'none yet',
  count: (count: number) => (count === 1 ? '1 position' : `${count} positions`),
  shown: 'shown',
  hidden: 'hidden',
  everyMaker: 'any',
  wall: 'Wall',
  desk: 'Desk',
  opens: (page: string, title: string) => `${page}: ${title}`,
  add: 'Add a group',
  addAction: 'Add',
  added: (title: string) => `${title} is added.`,
  change: 'Change',
  changeTitle: (title: string) => `Change ${title}`,
  changed: (title: string) => `${title} is changed.`,
  save: 'Save',
  fieldTitle: 'Title',
  fieldSlots: 'Positions',
  slotsHint: 'In the order in which they are shown, such as 1-8, 12, 10. The word blank leaves a place empty.',
  hideCharts: 'Hide the charts of its cards',
  fieldManufacturer: 'Manufacturer',
  manufacturerHint: 'Only if all of it is of one: then a filter for that manufacturer keeps its planned places.',
  remove: 'Remove',
  removeTitle: (title: string) => `Remove ${title}?`,
  removeFollows: (count: number) =>
    `Its ${count === 1 ? 'position stays' : `${count} positions stay`} on the wall. Screens and bookmarks that show ` +
    'this group show everything then.',
  removed: (title: string) => `${title} is removed.`,
} as const
