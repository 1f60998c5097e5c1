/** Arranging positions and groups. */

import type { Deed } from '../arrangement.ts'

export const arrangeTexts = {
  title: 'Arrange',
  intro:
    'Drag a channel to another position or onto a group. Or press one, and then the place it should go to; ' +
    'Escape puts it back.',
  introGroup:
    'The order is the one on the wall. Drag, or press one and then its new place. What is below is not in this group yet.',
  done: 'Done',
  undo: 'Undo',
  undone: 'Taken back.',
  notAllowed: (role: string) =>
    `Arranging takes the role operator; you look at this page as ${role}. Sign in with an account that has it.`,
  carrying: (name: string) => `${name} is picked up.`,
  pickUp: (name: string, slot: number) => `Pick up ${name}, position ${slot}`,
  putDown: (name: string) => `Put ${name} back`,
  putAt: (name: string, slot: number) => `Put ${name} at position ${slot}`,
  putAtEnd: (name: string) => `Put ${name} at the end`,
  putInto: (name: string, group: string) => `Put ${name} into ${group}`,
  end: 'End',
  free: 'Free',
  planned: 'Planned',
  blank: 'Blank',
  places: 'Positions',
  outside: 'Not in this group',
  remove: (name: string) => `Take ${name} out of this group`,
  removeShort: 'Take out',
  swapTitle: (slot: number, holder: string) => `Position ${slot} holds ${holder}`,
  swapText: (name: string, holder: string) => `${name} and ${holder} change places.`,
  swap: 'Swap them',
  groups: 'Groups',
  newGroup: 'New group',
  newGroupTitle: 'Name of the new group',
  create: 'Create group',
  groupTitle: 'Name of this group',
  rename: 'Rename',
  hideCharts: 'Hide charts',
  delete: 'Delete group',
  deleteTitle: (title: string) => `Delete the group ${title}?`,
  deleteText: (count: number) =>
    `Its ${count} ${count === 1 ? 'position stays' : 'positions stay'} where they are; only the group goes.`,
  addBlank: 'Add a blank place',
  addPosition: 'Plan a position',
  addPositionLabel: 'Number of the position to plan',
  result: doneText,
} as const

function doneText(deed: Deed): string {
  switch (deed.type) {
    case 'move':
      return `Moved to position ${deed.to}.`
    case 'swap':
      return `Positions ${deed.a.slot} and ${deed.b.slot} are swapped.`
    case 'change_group':
      return `${deed.after.title} is changed.`
    case 'create_group':
      return `${deed.group.title} is there.`
    case 'delete_group':
      return `${deed.group.title} is deleted.`
    default:
      return deed satisfies never
  }
}
