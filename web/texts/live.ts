/** The live pages: what can be looked for, pressed and arranged there. */

import type { Layout, Sort, StateFilter, Theme } from '../view.ts'

const sorts: Record<Sort, string> = {
  slot: 'By position',
  problems: 'Problems first',
  name: 'By name',
  battery: 'Weakest battery first',
  rf: 'Weakest RF first',
}

const states: Record<StateFilter, string> = {
  all: 'Every state',
  problems: 'Problems only',
  on: 'Switched on',
  off: 'Switched off',
}

const layouts: Record<Layout, string> = { grid: 'Cards', list: 'Table' }

const themes: Record<Theme, string> = {
  dark: 'Dark',
  light: 'Light',
  contrast: 'High contrast',
  system: 'As this device',
}

export const liveTexts = {
  sorts,
  states,
  layouts,
  themes,
  toolbar: {
    label: 'View',
    search: 'Search',
    searchHint: 'Name, position, receiver, MHz',
    state: 'State',
    sort: 'Order',
    theme: 'Theme',
    manufacturer: 'Manufacturer',
    groups: 'Groups',
    everything: 'All',
    more: 'More',
    moreLabel: 'More to do with this view',
    count: (shown: number, all: number) => (shown === all ? `${all}` : `${shown} of ${all}`),
  },
  table: {
    caption: 'Channels',
    columns: {
      slot: 'Pos.',
      name: 'Name',
      state: 'State',
      marks: 'Besides',
      battery: 'Battery',
      rf: 'RF',
      audio: 'Audio',
      levels: 'RF and audio',
      frequency: 'Frequency',
      receiver: 'Receiver',
    },
  },
  keys: {
    title: 'Keys',
    help: 'Show the keys',
    search: 'Search',
    groups: 'Show a group; 0 shows all',
    wall: 'Wall',
    desk: 'Desk',
    problems: 'Problems first',
    problemsOff: 'By position',
    layout: 'Cards or table',
    layoutWall: 'Cards or lines',
    full: 'Full screen',
    qr: 'QR code of this view',
    pictures: 'Pictures of performers',
    charts: 'Charts',
    sound: 'Alarm sound',
    soundWaits: 'Alarm sound: press once, the browser waits for it',
    notify: 'Notifications of alarms',
    notifyRefused: 'Notifications are blocked in the settings of this browser',
    arrange: 'Arrange',
    close: 'Close what is open',
    closeButton: 'Close',
    columnKey: 'Key',
    columnDoes: 'What it does',
  },
  qr: {
    title: 'This view on another device',
    label: (address: string) => `QR code of ${address}`,
    loopback:
      'This page was opened by an address that only this machine knows, so a phone cannot follow it. ' +
      'Let Micwatch listen on the network (server.host, or MICWATCH_HOST=0.0.0.0) and open this page by the ' +
      "machine's own address or name.",
  },
  alarm: {
    notification: (name: string, word: string) => `${name}: ${word}`,
    position: (slot: number, receiver: string) => `Position ${slot}, ${receiver}`,
  },
} as const
