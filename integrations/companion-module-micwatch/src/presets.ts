/** Presets: buttons to drag onto a page. */

import type {
  CompanionButtonStepActions,
  CompanionPresetDefinition,
  CompanionPresetDefinitions,
  CompanionPresetGroup,
  CompanionPresetSection,
} from '@companion-module/base'
import { buttonColors } from './colors.ts'
import type { MicwatchTypes } from './types.ts'
import type { SlotStatus, View } from './view.ts'

type Preset = CompanionPresetDefinition<MicwatchTypes>

export interface Presets {
  readonly sections: CompanionPresetSection<MicwatchTypes>[]
  readonly presets: CompanionPresetDefinitions<MicwatchTypes>
}

/** Companion replaces the label in `$(label:name)` with that of the connection. */
const variable = (name: string) => `$(micwatch:${name})`
/** As users enter a line break in Companion. */
const lines = (...texts: string[]) => texts.join('\\n')

const noAction: CompanionButtonStepActions<MicwatchTypes> = { down: [], up: [] }
/** Long enough not to happen by accident. */
const holdMs = 1000

const { ok, critical, off, offline } = buttonColors

const whenDisconnected = { feedbackId: 'disconnected', options: {}, style: { ...offline } } as const

/** Returns the presets for these slots. Those of channels are listed for each group of slots, and for all. */
export function createPresets({ slots, groups }: Pick<View, 'slots' | 'groups'>): Presets {
  const channels = [...slots.values()].filter(({ channelId }) => channelId !== null)
  const channelGroups = [
    ...groups.map(({ id, title, slots }) =>
      channelGroup(
        `group_${id}`,
        title,
        channels.filter(({ slot }) => slots.includes(slot)),
      ),
    ),
    channelGroup('all', 'All channels', channels),
  ].filter(({ presets }) => presets.length > 0)
  return {
    presets: {
      ...overviewPresets,
      ...showPresets,
      ...Object.fromEntries(channels.map((one) => [channelId(one), channelPreset(one)])),
    },
    sections: [
      ...(channelGroups.length > 0
        ? [
            {
              id: 'channels',
              name: 'Channel status',
              description: 'Hold for a second to acknowledge.',
              definitions: channelGroups,
            },
          ]
        : []),
      { id: 'overview', name: 'Overview and alerts', definitions: Object.keys(overviewPresets) },
      { id: 'show', name: 'Show and markers', definitions: Object.keys(showPresets) },
    ],
  }
}

const channelId = ({ slot }: SlotStatus) => `channel_${slot}`

function channelGroup(id: string, name: string, channels: readonly SlotStatus[]) {
  return { id, type: 'simple', name, presets: channels.map(channelId) } satisfies CompanionPresetGroup<MicwatchTypes>
}

function channelPreset({ slot, name }: SlotStatus): Preset {
  const of = (suffix: string) => variable(`ch_${slot}_${suffix}`)
  return {
    type: 'simple',
    name: `${slot}: ${name}`,
    style: { text: lines(of('name'), of('status'), of('battery_charge'), of('rf_level')), size: '14', ...offline },
    steps: [{ ...noAction, [holdMs]: [{ actionId: 'acknowledge_channel', options: { channel: slot, note: '' } }] }],
    feedbacks: [{ feedbackId: 'channel_status', options: { channel: slot } }],
  }
}

const overviewPresets: CompanionPresetDefinitions<MicwatchTypes> = {
  attention_count: {
    type: 'simple',
    name: 'Channels that need attention',
    style: { text: lines(variable('attention_count'), 'attention'), size: '18', ...ok },
    steps: [noAction],
    feedbacks: [{ feedbackId: 'attention_any', options: {}, style: { ...critical } }, whenDisconnected],
  },
  acknowledge_latest: {
    type: 'simple',
    name: 'Acknowledge the newest alert',
    style: { text: lines('ACK', variable('alert_latest')), size: '14', ...off },
    steps: [{ ...noAction, down: [{ actionId: 'acknowledge_latest', options: { note: '' } }] }],
    feedbacks: [{ feedbackId: 'alert_open', options: {}, style: { ...critical } }, whenDisconnected],
  },
  acknowledge_all: {
    type: 'simple',
    name: 'Acknowledge all alerts',
    style: { text: lines('ACK all', variable('alert_count')), size: '18', ...off },
    steps: [{ ...noAction, down: [{ actionId: 'acknowledge_all', options: { note: '' } }] }],
    feedbacks: [{ feedbackId: 'alert_open', options: {}, style: { ...critical } }, whenDisconnected],
  },
  snooze_latest: {
    type: 'simple',
    name: 'Snooze the newest alert for 15 minutes',
    style: { text: lines('Snooze', '15 min'), size: '18', ...off },
    steps: [{ ...noAction, down: [{ actionId: 'snooze_latest', options: { minutes: 15 } }] }],
    feedbacks: [{ feedbackId: 'alert_open', options: {}, style: { ...critical } }, whenDisconnected],
  },
  transmitters_on: {
    type: 'simple',
    name: 'Transmitters that are on',
    style: { text: lines(variable('tx_on_count'), 'TX on'), size: '18', ...off },
    steps: [noAction],
    feedbacks: [whenDisconnected],
  },
}

const showPresets: CompanionPresetDefinitions<MicwatchTypes> = {
  marker: {
    type: 'simple',
    name: 'Add a marker',
    style: { text: 'Marker', size: '18', ...off },
    steps: [{ ...noAction, down: [{ actionId: 'marker', options: { text: 'Marker' } }] }],
    feedbacks: [whenDisconnected],
  },
  start_show: {
    type: 'simple',
    name: 'Start the planned show',
    style: { text: lines('Start show', variable('show_title')), size: '14', ...off },
    steps: [{ ...noAction, down: [{ actionId: 'start_show', options: { show: '' } }] }],
    feedbacks: [{ feedbackId: 'show_running', options: {}, style: { ...ok } }, whenDisconnected],
  },
  end_show: {
    type: 'simple',
    name: 'End the running show (hold)',
    style: { text: lines('End show', 'hold'), size: '14', ...off },
    steps: [{ ...noAction, [holdMs]: [{ actionId: 'end_show', options: { show: '' } }] }],
    feedbacks: [whenDisconnected],
  },
}
