/** The version, commit, time and project of the sources, which build output contains. */

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Source {
  /** That of package.json for a release; `<next patch version>~dev<commits since the release>` after it. */
  readonly version: string
  /** Null if there is no git and the sources are no archive of a commit. */
  readonly commit: string | null
  /** `SOURCE_DATE_EPOCH` (reproducible-builds.org), otherwise the time of the commit, otherwise 1980. */
  readonly date: Date
  /** `PROJECT_URL`: the repository with the issues, without a slash at its end. Null if the build has none. */
  readonly projectUrl: string | null
}

/** A commit, and its distance from the release; null if that is unknown. */
interface Commit {
  readonly hash: string
  readonly seconds: string
  readonly distance: number | null
}

/** `git archive` writes the commit into this file: see .gitattributes. */
const archived = 'scripts/archived-commit.txt'
/** 1 January 1980 in seconds since 1970, the earliest time in a zip. */
const earliest = 315_532_800

export function readSource(root: string): Source {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  // An archive may be unpacked inside the repository of another project.
  const commit = existsSync(join(root, '.git')) ? readGit(root, version) : readArchive(root, version)
  const seconds = process.env.SOURCE_DATE_EPOCH ?? commit?.seconds ?? String(earliest)
  if (!/^\d{1,11}$/.test(seconds)) throw new Error(`SOURCE_DATE_EPOCH must be in seconds since 1970, not "${seconds}".`)
  return {
    version: commit === null ? version : toVersion(version, commit.distance),
    commit: commit?.hash ?? null,
    date: new Date(Math.max(Number(seconds), earliest) * 1000),
    projectUrl: readProjectUrl(process.env.PROJECT_URL),
  }
}

function readProjectUrl(value = ''): string | null {
  if (value === '') return null
  const { protocol, origin, pathname } = new URL(value)
  if (protocol !== 'https:') throw new Error(`PROJECT_URL must begin with https://, not "${value}".`)
  return origin + pathname.replace(/\/+$/, '')
}

/** A tilde sorts before the release in dpkg and rpm. */
function toVersion(version: string, distance: number | null): string {
  if (distance === 0) return version
  const [major, minor, patch] = version.split('.').map(Number)
  return `${major}.${minor}.${Number(patch) + 1}~dev${distance ?? 0}`
}

/** Counts from the tag of the version, otherwise from the commit that set it. Returns null without git. */
function readGit(root: string, version: string): Commit | null {
  try {
    const [hash = '', seconds = ''] = git(root, 'log', '-1', '--format=%H %ct').split(' ')
    const tag = `refs/tags/v${version}`
    const changed = ['log', '-1', '--format=%H', `-S"version": "${version}"`, '--', 'package.json']
    const release = git(root, 'for-each-ref', '--format=%(refname)', tag) === '' ? git(root, ...changed) : tag
    return { hash, seconds, distance: Number(git(root, 'rev-list', '--count', `${release}..HEAD`)) }
  } catch {
    return null
  }
}

function readArchive(root: string, version: string): Commit | null {
  const [hash = '', seconds = '', described = ''] = readFileSync(join(root, archived), 'utf8').trim().split(' ')
  if (!/^[0-9a-f]{40}$/.test(hash)) return null
  const [, tag, distance = '0'] = /^v(.+?)(?:-(\d+)-g[0-9a-f]+)?$/.exec(described) ?? []
  return { hash, seconds, distance: tag === version ? Number(distance) : null }
}

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}
