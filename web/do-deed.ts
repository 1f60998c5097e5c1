/** Carries out a deed over the REST interface. */

import type { ChannelBody, Group } from '../src/model/api.ts'
import { type Answer, type Api, isNothing, isObject, type Problem } from './api.ts'
import type { Deed } from './arrangement.ts'

/** The groups that are known; a deed on one of them answers what they are afterwards. */
type Groups = readonly Group[]

/** Where a channel waits while two change places: far from what anybody uses. */
const parkingPlaces = [64_999, 64_998, 64_997, 64_996]
const comeBackAfterMs = [1_000, 2_000, 4_000, 8_000]

/** The deed as it was done: a group that was made has its id only then. */
export async function doDeed(api: Api, deed: Deed): Promise<Answer<Deed>> {
  switch (deed.type) {
    case 'move':
      return instead(await put(api, deed.channelId, deed.to), deed)
    case 'swap':
      return instead(await swap(api, deed), deed)
    case 'change_group': {
      const { id, ...fields } = deed.after
      const answer = await api.write('PUT', `/api/groups/${id}/`, fields, isObject<Group>)
      return answer.ok ? { ok: true, body: { ...deed, after: answer.body } } : answer
    }
    case 'create_group': {
      const { id: _, ...fields } = deed.group
      const answer = await api.write('POST', '/api/group/', fields, isObject<Group>)
      return answer.ok ? { ok: true, body: { ...deed, group: answer.body } } : answer
    }
    case 'delete_group':
      return instead(await api.write('DELETE', `/api/groups/${deed.group.id}/`, undefined, isNothing), deed)
    default:
      return deed satisfies never
  }
}

/** The groups afterwards. */
export function groupsAfter(groups: Groups, deed: Deed): Groups {
  switch (deed.type) {
    case 'change_group':
      return groups.map((one) => (one.id === deed.after.id ? deed.after : one))
    case 'create_group':
      return [...groups, deed.group]
    case 'delete_group':
      return groups.filter((one) => one.id !== deed.group.id)
    default:
      return groups
  }
}

function put(api: Api, channelId: number, slot: number): Promise<Answer<ChannelBody>> {
  return api.write('PATCH', `/api/channels/${channelId}/`, { slot }, isObject<ChannelBody>)
}

/**
 * A position holds one channel, so one of the two steps aside. Whatever fails then, it comes back to one of the two
 * positions, unless the service stays away for longer or somebody else takes both.
 */
async function swap(api: Api, { a, b }: Extract<Deed, { type: 'swap' }>): Promise<Answer<ChannelBody>> {
  const aside = await stepAside(api, b.channelId)
  if (!aside.ok) return aside
  const first = await put(api, a.channelId, b.slot)
  // An answer that was lost does not say whether its position is free.
  const second = await comeBack(api, b.channelId, first.ok ? [a.slot] : [b.slot, a.slot])
  const isSwapped = second.ok && second.body.slot === a.slot
  return first.ok || isSwapped ? second : first
}

/** To the first of these that is free; a service that does not answer is asked again. */
async function comeBack(api: Api, channelId: number, slots: readonly number[]): Promise<Answer<ChannelBody>> {
  let answer: Answer<ChannelBody> | undefined
  for (const waitMs of [0, ...comeBackAfterMs]) {
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    for (const slot of slots) {
      answer = await put(api, channelId, slot)
      if (answer.ok || answer.problem.field !== 'slot') break
    }
    if (answer?.ok || !isPassing(answer?.problem)) break
  }
  return answer as Answer<ChannelBody>
}

function isPassing(problem: Problem | undefined): boolean {
  return problem?.kind === 'unreachable' || problem?.waitSeconds !== undefined
}

async function stepAside(api: Api, channelId: number): Promise<Answer<ChannelBody>> {
  let answer: Answer<ChannelBody> | undefined
  for (const slot of parkingPlaces) {
    answer = await put(api, channelId, slot)
    if (answer.ok || answer.problem.field !== 'slot') return answer
  }
  return answer as Answer<ChannelBody>
}

function instead(answer: Answer<unknown>, deed: Deed): Answer<Deed> {
  return answer.ok ? { ok: true, body: deed } : answer
}
