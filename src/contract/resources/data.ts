/** The response of `GET /api/data.json`. */

import { type Body, listOf, named } from '../described.ts'
import { DiscoveredDevice } from './discovery.ts'
import { Group } from './groups.ts'
import { ChannelAssignment } from './performers.ts'
import { PlaceholderInData } from './placeholders.ts'
import { ReceiverInData } from './receivers.ts'
import { Configuration } from './settings.ts'

export const Data = named('Data', 'All receivers with their channels, discovered devices, settings and groups.', {
  receivers: listOf(ReceiverInData, 'By id.'),
  discovered: listOf(DiscoveredDevice, 'Devices that a scan has found in the last 24 hours.'),
  config: Configuration,
  groups: listOf(Group, 'By id.'),
  assignments: listOf(ChannelAssignment, 'All active assignments.'),
  placeholders: listOf(PlaceholderInData, 'By id.'),
})
export type DataBody = Body<typeof Data>
