/** Filters and page numbers are kept in the URL, for bookmarks, links and the back button. */

import { useSearch as useAnySearch, useLocation, useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'

interface Option {
  readonly value: string
  readonly text: string
}

export type Filter =
  | {
      readonly name: string
      readonly label: string
      readonly kind: 'choice'
      readonly options: readonly Option[]
      /** Applies if the URL contains no value. `any` then selects everything. */
      readonly usual?: string
    }
  | {
      readonly name: string
      readonly label: string
      /** A channel is selected by its id. */
      readonly kind: 'day' | 'text' | 'channel'
    }

export const any = 'any'

export type Values = Readonly<Record<string, string>>

export function filterValues(filters: readonly Filter[], search: string): Values {
  const query = new URLSearchParams(search)
  const known = filters.flatMap((filter) => {
    const value = query.get(filter.name)
    return value !== null && isValue(filter, value) ? [[filter.name, value]] : []
  })
  return Object.fromEntries(known)
}

function isValue(filter: Filter, value: string): boolean {
  if (filter.kind === 'choice') {
    return filter.options.some((option) => option.value === value) || (value === any && filter.usual !== undefined)
  }
  if (filter.kind === 'channel') return /^[1-9]\d{0,14}$/.test(value)
  if (filter.kind === 'day') return /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value))
  return value !== '' && value.length <= 255
}

export function valuesInForce(filters: readonly Filter[], search: string): Values {
  const usual = filters.flatMap((filter) =>
    filter.kind === 'choice' && filter.usual !== undefined ? [[filter.name, filter.usual]] : [],
  )
  return { ...Object.fromEntries(usual), ...filterValues(filters, search) }
}

/** A day begins at midnight in the browser's time zone and is converted to UTC. */
export function queryOf(filters: readonly Filter[], values: Values, paging: Values = {}): string {
  const query = new URLSearchParams(paging)
  for (const { name, kind } of filters) {
    const value = values[name]
    if (value !== undefined && value !== any)
      query.set(name, kind === 'day' ? new Date(`${value}T00:00`).toISOString() : value)
  }
  return query.toString()
}

export function pageNumber(search: string): number {
  const page = new URLSearchParams(search).get('page') ?? ''
  return /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1
}

/** The URL's query, and a function that changes values in it. Null removes a value. */
export function useSearch(): [search: string, change: (values: Readonly<Record<string, string | null>>) => void] {
  const navigate = useNavigate()
  const search = useLocation({ select: (location) => location.searchStr })
  const change = useCallback(
    (values: Readonly<Record<string, string | null>>) =>
      void navigate({ to: '.', search: (before: object) => ({ ...before, ...values }), resetScroll: false }),
    [navigate],
  )
  return [search, change]
}

/** The first of several values counts. */
export function parseQuery(search: string): Record<string, string> {
  const query = new URLSearchParams(search)
  return Object.fromEntries([...query.keys()].map((name) => [name, query.get(name) ?? '']))
}

/** Omits null, undefined and empty values. Returns `''` or a text that begins with `?`. */
export function formatQuery(values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== '') query.set(name, String(value))
  }
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

/** A kiosk view shows the wall or the monitor without controls. Its address contains `kiosk=1`. */
export function useIsKiosk(): boolean {
  return useAnySearch({ strict: false, select: ({ kiosk }: { kiosk?: unknown }) => kiosk === '1' })
}
