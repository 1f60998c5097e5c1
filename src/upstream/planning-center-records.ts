/** Reads the JSON:API records of Planning Center Services. Skips records without a usable id or name. */

import {
  PlanningCenterError,
  type PlanSummary,
  type ScheduledPerson,
  type ServiceTime,
  type ServiceType,
} from '../domain/imports/planning-center.ts'
import { isRecord, type Json } from '../domain/json.ts'
import { parseTimestamp } from '../domain/timestamp.ts'
import { maxNameChars, readText } from './fields.ts'

/** One page of a list. */
export interface List {
  readonly data: readonly Json[]
  readonly included: readonly Json[]
  /** The query of the next page, with its question mark; null on the last page. */
  readonly next: string | null
}

export function readList(body: unknown): List {
  if (!isRecord(body) || !Array.isArray(body.data)) throw unusable()
  const { data, included, links } = body
  const next = isRecord(links) ? links.next : null
  return {
    data: data.filter(isRecord),
    included: Array.isArray(included) ? included.filter(isRecord) : [],
    next: typeof next === 'string' && URL.canParse(next) ? new URL(next).search : null,
  }
}

export function readRecord(body: unknown): Json {
  if (!isRecord(body) || !isRecord(body.data)) throw unusable()
  return body.data
}

function unusable(): PlanningCenterError {
  return new PlanningCenterError('away', 'Planning Center is not available: its response has an unknown form.')
}

export function toServiceType(record: Json): ServiceType[] {
  const { id, attributes } = partsOf(record)
  const name = readText(attributes.name, maxNameChars)
  const isHidden = attributes.archived_at != null || attributes.deleted_at != null
  return id === null || name == null || isHidden ? [] : [{ id, name }]
}

export function toPlan(record: Json): PlanSummary[] {
  const { id, attributes } = partsOf(record)
  const title = readText(attributes.title, maxNameChars) ?? readText(attributes.series_title, maxNameChars) ?? null
  return id === null ? [] : [{ id, title, dates: readText(attributes.dates, maxNameChars) ?? '' }]
}

/** Skips rehearsals. */
export function toServiceTime(record: Json): ServiceTime[] {
  const { id, attributes } = partsOf(record)
  const { starts_at, ends_at, time_type } = attributes
  const starts = typeof starts_at === 'string' ? parseTimestamp(starts_at) : null
  if (id === null || starts === null || time_type !== 'service') return []
  const name = readText(attributes.name, maxNameChars) ?? null
  return [{ id, name, starts_at: starts, ends_at: typeof ends_at === 'string' ? parseTimestamp(ends_at) : null }]
}

/** The position of people who are scheduled without one is the name of their team. */
export function toPerson(record: Json, included: readonly Json[]): ScheduledPerson[] {
  const { attributes, relationships } = partsOf(record)
  const person = findIncluded(included, 'Person', relationships.person)
  const team = readText(findIncluded(included, 'Team', relationships.team).name, maxNameChars) ?? ''
  const name = readText(attributes.name, maxNameChars) ?? readText(person.full_name, maxNameChars)
  const position = readText(attributes.team_position_name, maxNameChars) ?? team
  if (name == null || position === '' || /^d/i.test(String(attributes.status))) return []
  const photo = readText(attributes.photo_thumbnail) ?? readText(person.photo_thumbnail_url)
  const times = idsOf(relationships.service_times)
  return [{ name, position, team, times, photo: photo == null || isPlaceholderPhoto(photo) ? null : photo }]
}

/** Planning Center's picture of a person without a photo. */
function isPlaceholderPhoto(address: string): boolean {
  return /\/no_photo|\/uploads\/initials\//.test(address)
}

function partsOf({ id, attributes, relationships }: Json) {
  return {
    id: typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? id : null,
    attributes: isRecord(attributes) ? attributes : {},
    relationships: isRecord(relationships) ? relationships : {},
  }
}

function findIncluded(included: readonly Json[], type: string, relationship: unknown): Json {
  const [id] = idsOf(relationship)
  const found = included.find((record) => record.type === type && record.id === id)
  return id !== undefined && isRecord(found?.attributes) ? found.attributes : {}
}

/** Accepts a relationship to one record or to several. */
function idsOf(relationship: unknown): string[] {
  const data = isRecord(relationship) ? relationship.data : null
  const records: readonly unknown[] = Array.isArray(data) ? data : [data]
  return records.flatMap((record) => (isRecord(record) && typeof record.id === 'string' ? [record.id] : []))
}
