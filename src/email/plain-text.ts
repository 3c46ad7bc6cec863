/**
 * Data as one clean line: no control characters and line ends (they could start a header), nothing that reverses
 * the reading direction of what follows (a name could make an amount read backwards), no half characters.
 * A text longer than `lengthMax` characters is cut and ends in `…`.
 */
export function oneLine(text: string, lengthMax: number): string {
  const clean = text
    .replace(DIRECTION_OVERRIDES, '')
    .replace(LONE_SURROGATES, '\ufffd')
    .replace(CONTROLS_AND_SPACES, ' ')
    .trim();
  if (clean.length <= lengthMax) return clean;
  // By code points, so that no emoji is cut in half.
  const characters = Array.from(clean);
  if (characters.length <= lengthMax) return clean;
  return `${characters
    .slice(0, lengthMax - 1)
    .join('')
    .trimEnd()}…`;
}

const DIRECTION_OVERRIDES = /[\u202a-\u202e\u2066-\u2069\ufeff]/g;
const LONE_SURROGATES = /\p{Cs}/gu;
const CONTROLS_AND_SPACES = /[\p{Cc}\s]+/gu;
