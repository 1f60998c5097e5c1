/** Filters that several lists have. */

import { type Health, isObject } from '../api.ts'
import { t } from '../i18n.ts'
import { type Filter, useSearch } from '../query.ts'
import { useReading } from '../reading.ts'

export const yesOrNo = [
  { value: 'true', text: t('parts.filters.yes') },
  { value: 'false', text: t('parts.filters.no') },
] as const

/** Codes of the manufacturers that are there; until that is known, the one the address asks for. */
function useManufacturers(): readonly string[] {
  const [search] = useSearch()
  const { body } = useReading('/api/health/', isObject<Health>)
  if (body !== null) return body.manufacturers.map(({ code }) => code)
  const asked = new URLSearchParams(search).get('manufacturer')
  return asked === null ? [] : [asked]
}

export function useManufacturerFilter(): Filter {
  const options = useManufacturers().map((code) => ({ value: code, text: code }))
  return { name: 'manufacturer', label: t('parts.filters.manufacturer'), kind: 'choice', options }
}
