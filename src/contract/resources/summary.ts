/** The numbers of `GET /api/summary/`. */

import Type from 'typebox'
import { named, whole } from '../described.ts'
import { conditionStates } from '../values.ts'

const states = Object.fromEntries(conditionStates.map((state) => [state, whole('Channels in this state.')])) as Record<
  (typeof conditionStates)[number],
  ReturnType<typeof whole>
>

export const Summary = named('Summary', 'How many channels there are, and how many need attention.', {
  channels: whole('All channels.'),
  transmitters_on: whole('Channels of active receivers that have a transmitter.'),
  attention: whole('Channels that need attention.'),
  problems: whole('The same, but the channels of one offline receiver or one failing source count once.'),
  handled: whole(
    'Channels that need attention and of which every cause is acknowledged, snoozed or silenced. They are part of `attention` and `problems`.',
  ),
  conflicts: Type.Union(
    [
      Type.Object({
        critical: whole('Conflicts between carriers that are on, of the kinds `duplicate`, `spacing` and `foreign`.'),
        other: whole('All other conflicts.'),
      }),
      Type.Null(),
    ],
    {
      description: 'Frequency conflicts, as `GET /api/frequencies/` lists them; null with too many carriers to check.',
    },
  ),
  queue_pending: whole('Devices that are waiting for review.'),
  disconnected: whole('Real-time connections that are neither connected nor stopped.'),
  replace_soon: whole('Channels with a transmitter whose battery is at or under `BATTERY_REPLACE_SOON`.'),
  states: Type.Object(states, { description: 'By state.' }),
  receivers: Type.Object(
    { online: whole('Active receivers.'), offline: whole('Inactive receivers.') },
    { description: 'Receivers.' },
  ),
  sources: Type.Object(
    { healthy: whole('Sources without a problem.'), failing: whole('Sources of which the last cycle failed.') },
    { description: 'Monitored systems and devices.' },
  ),
})
