import { t } from '../app/i18n.ts'
import { type Filter, useSearch } from '../app/query.ts'
import { useResource } from '../app/resource.ts'
import { displayName } from '../parts/equipment/manufacturer-names.tsx'

export const yesOrNo = [
  { value: 'true', text: t('parts.filters.yes') },
  { value: 'false', text: t('parts.filters.no') },
] as const

/** Only the manufacturer in the URL until they are loaded. */
function useManufacturers(): readonly { readonly code: string; readonly name: string }[] {
  const [search] = useSearch()
  const { body } = useResource('/api/health/', 'object')
  if (body !== null) return body.manufacturers
  const requested = new URLSearchParams(search).get('manufacturer')
  return requested === null ? [] : [{ code: requested, name: requested }]
}

export function useManufacturerFilter(): Filter {
  const options = useManufacturers().map((known) => ({ value: known.code, text: displayName(known) }))
  return { name: 'manufacturer', label: t('parts.filters.manufacturer'), kind: 'choice', options }
}
