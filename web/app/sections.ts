import { useQuery } from '@tanstack/react-query'
import { isListed, type PageName, type Section, sections } from '../../src/domain/pages.ts'
import { useServices } from './context.ts'
import { useSession } from './session.ts'

/** While the session is loading, only pages that need no more than reading are listed. */
export function useIsListed(): (page: PageName) => boolean {
  const granted = useSession()?.permissions ?? (['read'] as const)
  return (page) => isListed(page, granted)
}

export function useSections(): readonly Section[] {
  const isListed = useIsListed()
  const hasNodes = useHasNodes()
  return sections
    .map(({ name, pages }) => ({
      name,
      pages: pages.filter((page) => isListed(page) && (hasNodes || page !== 'nodes')),
    }))
    .filter(({ pages }) => pages.length > 0)
}

/** Older versions have no Nodes page. True until the service has responded. */
export function useHasNodes(): boolean {
  const { api } = useServices()
  const { data = true } = useQuery({
    queryKey: ['has-nodes'],
    queryFn: async () => {
      const response = await api.read('/api/admin/nodes/', 'object')
      // A temporary error does not mean that the page is missing.
      return response.ok || response.problem.kind !== 'refused' || response.problem.waitSeconds !== undefined
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data
}
