/** Opens the command palette with Ctrl K, or Command K. A kiosk has none. */

import {
  createContext,
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react'
import type { Command } from '../parts/toolbar/commands.ts'
import { useIsKiosk } from './query.ts'

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))

interface PaletteAccess {
  open(): void
  /** The commands of the current page. */
  setCommands(commands: readonly Command[]): void
}

const PaletteContext = createContext<PaletteAccess>({ open: () => {}, setCommands: () => {} })

export function useOpenPalette(): () => void {
  return useContext(PaletteContext).open
}

export function usePaletteCommands(commands: readonly Command[]): void {
  const { setCommands } = useContext(PaletteContext)
  useEffect(() => setCommands(commands), [commands, setCommands])
  useEffect(() => () => setCommands([]), [setCommands])
}

export function PaletteProvider({ children }: { children: ReactNode }) {
  const [isShown, setShown] = useState(false)
  const isKiosk = useIsKiosk()
  const commands = useRef<readonly Command[]>([])
  const [access] = useState<PaletteAccess>(() => ({
    open: () => setShown(true),
    setCommands: (next) => {
      commands.current = next
    },
  }))
  const close = useCallback(() => setShown(false), [])
  useEffect(() => {
    if (isKiosk) return
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      if (document.querySelector('dialog[open]') === null) setShown(true)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [isKiosk])
  return (
    <PaletteContext value={access}>
      {children}
      {isShown ? (
        <Suspense>
          <Palette commands={commands.current} onClose={close} />
        </Suspense>
      ) : null}
    </PaletteContext>
  )
}
