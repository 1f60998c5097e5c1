import type { ChannelCheckBody } from '../../src/contract/checks.ts'
import type { CheckOrder } from './address.ts'

export type CheckStatus = 'failed' | 'open' | 'passed'

type Checked = Pick<ChannelCheckBody, 'channel_id' | 'last'>

export function statusOf({ last }: Pick<ChannelCheckBody, 'last'>): CheckStatus {
  if (last === null) return 'open'
  return last.result === 'pass' ? 'passed' : 'failed'
}

export function isWalking({ began_at, last }: Pick<ChannelCheckBody, 'began_at' | 'last'>): boolean {
  return began_at !== null && (last === null || last.time < began_at)
}

export interface Progress {
  readonly total: number
  readonly checked: number
  readonly failed: number
}

export function countProgress(checks: readonly Checked[]): Progress {
  const open = checks.filter((check) => statusOf(check) === 'open').length
  const failed = checks.filter((check) => statusOf(check) === 'failed').length
  return { total: checks.length, checked: checks.length - open, failed }
}

const ranks: Readonly<Record<CheckStatus, number>> = { failed: 0, open: 1, passed: 2 }

export function inOrder<Check extends Checked>(checks: readonly Check[], order: CheckOrder): readonly Check[] {
  return order === 'slot' ? checks : checks.toSorted((a, b) => ranks[statusOf(a)] - ranks[statusOf(b)])
}

/** The next channel by slot that is not checked, continuing with the first one. */
export function findNext<Check extends Checked>(checks: readonly Check[], channelId: number): Check | null {
  const at = checks.findIndex(({ channel_id }) => channel_id === channelId)
  const following = [...checks.slice(at + 1), ...checks.slice(0, Math.max(0, at))]
  return following.find((check) => statusOf(check) === 'open') ?? null
}
