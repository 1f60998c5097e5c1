/** Applies an edit through the REST API. */

import type { ChannelBody } from '../src/contract/resources/channels.ts'
import type { Group } from '../src/contract/resources/groups.ts'
import type { Api, ApiResponse, Problem } from './api.ts'
import type { Edit } from './arrangement.ts'

/** All groups that this page knows. */
type Groups = readonly Group[]

/** Temporary slots for a swap, far above the slots in normal use. */
const temporarySlots = [64_999, 64_998, 64_997, 64_996]
const retryAfterMs = [1_000, 2_000, 4_000, 8_000]

/** Returns the applied edit, which contains the id of a newly created group. */
export async function applyEdit(api: Api, edit: Edit): Promise<ApiResponse<Edit>> {
  switch (edit.type) {
    case 'move':
      return withEdit(await put(api, edit.channelId, edit.to), edit)
    case 'swap':
      return withEdit(await swap(api, edit), edit)
    case 'change_group': {
      const { id, ...fields } = edit.after
      const response = await api.write('PUT', `/api/groups/${id}/`, fields, 'object')
      return response.ok ? { ok: true, body: { ...edit, after: response.body } } : response
    }
    case 'create_group': {
      const { id: _, ...fields } = edit.group
      const response = await api.write('POST', '/api/group/', fields, 'object')
      return response.ok ? { ok: true, body: { ...edit, group: response.body } } : response
    }
    case 'delete_group':
      return withEdit(await api.write('DELETE', `/api/groups/${edit.group.id}/`, undefined, 'nothing'), edit)
    default:
      return edit satisfies never
  }
}

/** Returns the groups after the edit. */
export function groupsAfter(groups: Groups, edit: Edit): Groups {
  switch (edit.type) {
    case 'change_group':
      return groups.map((group) => (group.id === edit.after.id ? edit.after : group))
    case 'create_group':
      // The message about the new group may arrive before the response.
      return [...groups.filter(({ id }) => id !== edit.group.id), edit.group]
    case 'delete_group':
      return groups.filter((group) => group.id !== edit.group.id)
    default:
      return groups
  }
}

function put(api: Api, channelId: number, slot: number): Promise<ApiResponse<ChannelBody>> {
  return api.write('PATCH', `/api/channels/${channelId}/`, { slot }, 'object')
}

/**
 * Swaps two channels. A slot can hold only one channel, so channel `b` is first moved to a temporary slot. If the next
 * step fails, `b` is moved back to one of the two slots, unless the service stays unreachable or other users have taken
 * both slots.
 */
async function swap(api: Api, { a, b }: Extract<Edit, { type: 'swap' }>): Promise<ApiResponse<ChannelBody>> {
  const aside = await moveAside(api, b.channelId)
  if (!aside.ok) return aside
  const first = await put(api, a.channelId, b.slot)
  // If the response was lost, channel `a` may have moved or not, so both slots are tried.
  const second = await moveBack(api, b.channelId, first.ok ? [a.slot] : [b.slot, a.slot])
  const isSwapped = second.ok && second.body.slot === a.slot
  return first.ok || isSwapped ? second : first
}

/** Moves the channel to the first free slot in `slots`. Retries while the service does not respond. */
async function moveBack(api: Api, channelId: number, slots: readonly number[]): Promise<ApiResponse<ChannelBody>> {
  let response: ApiResponse<ChannelBody> | undefined
  for (const waitMs of [0, ...retryAfterMs]) {
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    for (const slot of slots) {
      response = await put(api, channelId, slot)
      if (response.ok || response.problem.field !== 'slot') break
    }
    if (response?.ok || !isTemporary(response?.problem)) break
  }
  return response as ApiResponse<ChannelBody>
}

function isTemporary(problem: Problem | undefined): boolean {
  return problem?.kind === 'unreachable' || problem?.waitSeconds !== undefined
}

async function moveAside(api: Api, channelId: number): Promise<ApiResponse<ChannelBody>> {
  let response: ApiResponse<ChannelBody> | undefined
  for (const slot of temporarySlots) {
    response = await put(api, channelId, slot)
    if (response.ok || response.problem.field !== 'slot') return response
  }
  return response as ApiResponse<ChannelBody>
}

function withEdit(response: ApiResponse<unknown>, edit: Edit): ApiResponse<Edit> {
  return response.ok ? { ok: true, body: edit } : response
}
