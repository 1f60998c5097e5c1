/** Filters shared by several lists. */

import { t } from '../i18n.ts'
import { type Filter, useSearch } from '../query.ts'
import { useResource } from '../resource.ts'

export const yesOrNo = [
  { value: 'true', text: t('parts.filters.yes') },
  { value: 'false', text: t('parts.filters.no') },
] as const

/** Returns the codes of the configured manufacturers; until they are loaded, only the code in the URL. */
function useManufacturers(): readonly string[] {
  const [search] = useSearch()
  const { body } = useResource('/api/health/', 'object')
  if (body !== null) return body.manufacturers.map(({ code }) => code)
  const requested = new URLSearchParams(search).get('manufacturer')
  return requested === null ? [] : [requested]
}

export function useManufacturerFilter(): Filter {
  const options = useManufacturers().map((code) => ({ value: code, text: code }))
  return { name: 'manufacturer', label: t('parts.filters.manufacturer'), kind: 'choice', options }
}
