/** A released version, as the file of the update notice describes it. */

import { isRecord } from './json.ts'

export interface Release {
  readonly version: string
  /** Where to read about it. */
  readonly url: string
}

const versionPattern = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})(~dev\d+)?$/
const maxUrlChars = 500

/** Returns null for anything but {version, url}. The page links to `url`, so it must be a web address. */
export function toRelease(body: unknown): Release | null {
  if (!isRecord(body)) return null
  const { version, url } = body
  if (typeof version !== 'string' || !versionPattern.test(version)) return null
  return typeof url === 'string' && url.length <= maxUrlChars && /^https?:\/\/\S+$/.test(url) ? { version, url } : null
}

/** A build of development, such as 1.0.1~dev5, is older than its release. An unknown version is never older. */
export function isNewer(version: string, current: string): boolean {
  const [next, present] = [partsOf(version), partsOf(current)]
  if (next === null || present === null) return false
  const index = next.findIndex((part, at) => part !== present[at])
  return index !== -1 && (next[index] ?? 0) > (present[index] ?? 0)
}

function partsOf(version: string): readonly number[] | null {
  const match = versionPattern.exec(version)
  if (match === null) return null
  const [, major, minor, patch, development] = match
  return [Number(major), Number(minor), Number(patch), development === undefined ? 1 : 0]
}
