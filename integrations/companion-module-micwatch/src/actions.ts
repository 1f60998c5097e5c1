/** Actions. They are carried out by Micwatch, need the role operator, and are recorded under the name of the token. */

import type {
  CompanionActionDefinition,
  CompanionActionDefinitions,
  SomeCompanionActionInputField,
} from '@companion-module/base'
import { channelField } from './channel-field.ts'
import type { SlotStatus, View } from './view.ts'
import type { Alert, Show } from './wire.ts'

export type Actions = {
  acknowledge_latest: { options: { note: string } }
  acknowledge_channel: { options: { channel: number; note: string } }
  acknowledge_all: { options: { note: string } }
  snooze_latest: { options: { minutes: number } }
  snooze_channel: { options: { channel: number; minutes: number } }
  not_now: { options: { channel: number; change: string } }
  marker: { options: { text: string } }
  start_show: { options: { show: string } }
  end_show: { options: { show: string } }
}

/** What actions need of the instance. */
export interface ActionDeps {
  getView(): View
  get(path: string): Promise<unknown>
  post(path: string, body: object): Promise<unknown>
  put(path: string, body: object): Promise<unknown>
}

const maxMarkerCharacters = 500

const noteField = { id: 'note', type: 'textinput', label: 'Note', default: '', useVariables: true } as const
const minutesField = {
  id: 'minutes',
  type: 'number',
  label: 'Minutes',
  default: 15,
  min: 1,
  max: 10_080,
  asInteger: true,
} as const
const notNowField = {
  id: 'change',
  type: 'dropdown',
  label: 'Not now',
  default: 'toggle',
  choices: [
    { id: 'toggle', label: 'Toggle' },
    { id: 'on', label: 'On' },
    { id: 'off', label: 'Off' },
  ],
} satisfies SomeCompanionActionInputField<'change'>
const showField = {
  id: 'show',
  type: 'textinput',
  label: 'Show',
  default: '',
  useVariables: true,
  tooltip: 'Id or exact title. Empty: the only show that is meant.',
} as const

export function actionDefinitions(deps: ActionDeps): CompanionActionDefinitions<Actions> {
  const acknowledge = (alerts: readonly Alert[], note: string) =>
    forEach(alerts, ({ id }) =>
      deps.post(`/api/alerts/${id}/acknowledge`, note.trim() === '' ? {} : { note: note.trim() }),
    )
  const snooze = (alerts: readonly Alert[], minutes: number) =>
    forEach(alerts, ({ id }) => deps.post(`/api/alerts/${id}/snooze`, { minutes }))
  return {
    acknowledge_latest: define('Acknowledge the newest alert', [noteField], ({ note }) =>
      acknowledge(openAlerts(deps).slice(0, 1), note),
    ),
    acknowledge_channel: define('Acknowledge the alerts of a slot', [channelField, noteField], ({ channel, note }) =>
      acknowledge(openAlerts(deps, channel), note),
    ),
    acknowledge_all: define('Acknowledge all alerts', [noteField], ({ note }) => acknowledge(openAlerts(deps), note)),
    snooze_latest: define('Snooze the newest alert', [minutesField], ({ minutes }) =>
      snooze(openAlerts(deps).slice(0, 1), minutes),
    ),
    snooze_channel: define('Snooze the alerts of a slot', [channelField, minutesField], ({ channel, minutes }) =>
      snooze(openAlerts(deps, channel), minutes),
    ),
    not_now: define(
      'Not now: nobody listens to a channel',
      [channelField, notNowField],
      async ({ channel, change }) => {
        const { channelId, isNotNow } = findSlot(deps, channel)
        if (channelId === null) throw new Error(`Slot ${channel} has no channel.`)
        const not_now = change === 'toggle' ? !isNotNow : change === 'on'
        await deps.put(`/api/channels/${channelId}/not-now/`, { not_now })
      },
    ),
    marker: define(
      'Add a marker',
      [{ id: 'text', type: 'textinput', label: 'Text', default: 'Marker', useVariables: true }],
      async ({ text }) => {
        const marker = text.trim().slice(0, maxMarkerCharacters)
        if (marker === '') throw new Error('A marker needs a text.')
        await deps.post('/api/markers/', { text: marker })
      },
    ),
    start_show: define('Start a show', [showField], async ({ show }) => {
      await deps.post(`/api/shows/${await findShow(deps, show, 'planned')}/start`, {})
    }),
    end_show: define('End a show', [showField], async ({ show }) => {
      await deps.post(`/api/shows/${await findShow(deps, show, 'running')}/end`, {})
    }),
  }
}

function define<Options extends Record<string, string | number>>(
  name: string,
  options: SomeCompanionActionInputField<Extract<keyof Options, string>>[],
  perform: (options: Options) => Promise<void>,
): CompanionActionDefinition<Options> {
  return { name, options, callback: ({ options }) => perform(options) }
}

/** Returns the alerts that can be acknowledged, newest first; with `slot`, those of its channel. */
function openAlerts(deps: ActionDeps, slot?: number): readonly Alert[] {
  const { alerts } = currentView(deps)
  if (slot === undefined) return alerts
  const { channelId } = findSlot(deps, slot)
  return alerts.filter(({ channel_id }) => channel_id === channelId)
}

function currentView({ getView }: ActionDeps): View {
  const view = getView()
  if (!view.isConnected) throw new Error('There is no connection to Micwatch.')
  return view
}

function findSlot(deps: ActionDeps, slot: number): SlotStatus {
  const status = currentView(deps).slots.get(slot)
  if (status === undefined) throw new Error(`There is no slot ${slot}.`)
  return status
}

async function forEach(alerts: readonly Alert[], perform: (alert: Alert) => Promise<unknown>): Promise<void> {
  for (const alert of alerts) await perform(alert)
}

/** Finds a show by its id or exact title; without either, the only one in this state. */
async function findShow(deps: ActionDeps, wanted: string, state: Show['state']): Promise<number> {
  const text = wanted.trim()
  const shows = readShows(await deps.get('/api/shows/'))
  const inState = shows.filter((show) => show.state === state)
  const found =
    text === ''
      ? inState
      : [...shows.filter(({ id }) => String(id) === text), ...inState.filter(({ title }) => title === text)]
  const [show] = found
  if (show !== undefined && (text !== '' || found.length === 1)) return show.id
  if (text !== '') throw new Error(`There is no ${state} show "${text}".`)
  throw new Error(`There are ${inState.length} ${state} shows. Enter the title or id of one.`)
}

function readShows(body: unknown): readonly Show[] {
  if (Array.isArray(body)) return body
  throw new Error('The list of shows is malformed.')
}
