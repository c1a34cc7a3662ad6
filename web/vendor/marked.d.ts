/* What the page uses of `marked.js`, for its type check. */
export class Lexer {
  constructor(options?: object);
  lex(text: string): any[];
}
