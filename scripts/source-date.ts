import { execFileSync } from 'node:child_process'

/** 1 January 1980 in seconds since 1970, the earliest time in a zip. */
const earliest = 315_532_800

/**
 * Returns the time of all build output, so that it does not depend on the time of the build: `SOURCE_DATE_EPOCH`
 * (reproducible-builds.org), else the time of the commit, else 1980.
 */
export function sourceDate(root: string): Date {
  const text = process.env.SOURCE_DATE_EPOCH ?? commitTime(root)
  if (!/^\d{1,11}$/.test(text)) throw new Error(`SOURCE_DATE_EPOCH must be in seconds since 1970, not "${text}".`)
  return new Date(Math.max(Number(text), earliest) * 1000)
}

function commitTime(root: string): string {
  try {
    const args = ['log', '-1', '--format=%ct']
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    // An archive of the sources, or no git.
    return String(earliest)
  }
}
